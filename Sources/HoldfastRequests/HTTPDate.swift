package import Holdfast

/// A date as HTTP writes it (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, and its two older forms, which a
/// recipient must take.
package struct HTTPDate {
    package let time: WallTime

    /// - Returns: nil for what is no such date.
    package init?(_ text: some StringProtocol) {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map { String($0) }
        let numbers: (day: String, month: String, year: String, time: String)
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT
        case 6 where words[5] == "GMT": numbers = (words[1], words[2], words[3], words[4])
        // Sun Nov  6 08:49:37 1994
        case 5: numbers = (words[2], words[1], words[4], words[3])
        default: return nil
        }
        let clock = numbers.time.split(separator: ":" as Character, omittingEmptySubsequences: false)
            .map { Int($0) ?? -1 }
        guard let month = Self.months.firstIndex(of: numbers.month), let day = Int(numbers.day),
            (1...31).contains(day), var year = Int(numbers.year), (0...9999).contains(year), clock.count == 3,
            (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        // Two digits mean the century that this is read in.
        if numbers.year.count == 2 { year += 2000 }
        let days = Self.days(year: year, month: month + 1, day: day)
        time = WallTime(seconds: Int64(days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// From 1 January 1970, in the Gregorian calendar. (Years counted from March, so that the leap day comes last.)
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
