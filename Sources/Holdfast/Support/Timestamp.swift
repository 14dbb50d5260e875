/// Instants as people and other programs write them.
package enum Timestamp {
    /// Parses RFC 3339: `2026-11-21T01:24:38Z`, `2026-11-21 01:24:38.250+01:00`. Nil for anything else.
    package static func parse(_ text: String) -> WallTime? {
        var rest = Substring(text).utf8
        guard let year = digits(4, &rest), skip("-", &rest), let month = digits(2, &rest), skip("-", &rest),
            let day = digits(2, &rest), let separator = rest.popFirst(), "Tt ".utf8.contains(separator),
            let hour = digits(2, &rest), skip(":", &rest), let minute = digits(2, &rest), skip(":", &rest),
            let second = digits(2, &rest), let fraction = milliseconds(&rest), let offset = zone(&rest), rest.isEmpty,
            (1...12).contains(month), (1...dayCount(year, month)).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        // RFC 3339 has leap seconds; the wall clock has none, so the 61st second is the one before.
        let seconds = dayNumber(year, month, day) * 86400 + hour * 3600 + minute * 60 + min(second, 59) - offset
        return WallTime(milliseconds: Int64(seconds * 1000 + fraction))
    }

    /// RFC 3339 in UTC, to the second, or to the millisecond where there are any.
    package static func format(_ time: WallTime) -> String {
        // Years beyond four digits come from times that nobody meant: shown as the last instant that can be written.
        let seconds = min(max(time.seconds, -62_135_596_800), 253_402_300_799)
        let remainder = Int(time.milliseconds % 1000)
        let milliseconds = remainder < 0 ? remainder + 1000 : remainder
        let day = Int((seconds - ((seconds % 86400) + 86400) % 86400) / 86400)
        let ofDay = Int(seconds) - day * 86400
        let (year, month, dayOfMonth) = civil(day)
        let date = "\(pad(year, 4))-\(pad(month, 2))-\(pad(dayOfMonth, 2))"
        let clock = "\(pad(ofDay / 3600, 2)):\(pad(ofDay / 60 % 60, 2)):\(pad(ofDay % 60, 2))"
        let fraction = milliseconds > 0 && time.seconds == seconds ? ".\(pad(milliseconds, 3))" : ""
        return "\(date)T\(clock)\(fraction)Z"
    }

    private static func pad(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func digits(_ count: Int, _ rest: inout Substring.UTF8View) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let byte = rest.popFirst(), (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }

    private static func skip(_ literal: Character, _ rest: inout Substring.UTF8View) -> Bool {
        rest.popFirst() == literal.asciiValue
    }

    /// An optional fraction of a second; digits beyond the third are cut off.
    private static func milliseconds(_ rest: inout Substring.UTF8View) -> Int? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        rest.removeFirst()
        var value = 0
        var count = 0
        while let byte = rest.first, (0x30...0x39).contains(byte) {
            if count < 3 { value = value * 10 + Int(byte - 0x30) }
            count += 1
            rest.removeFirst()
        }
        guard count > 0 else { return nil }
        for _ in min(count, 3)..<3 { value *= 10 }
        return value
    }

    /// Seconds east of UTC.
    private static func zone(_ rest: inout Substring.UTF8View) -> Int? {
        guard let first = rest.popFirst() else { return nil }
        if first == UInt8(ascii: "Z") || first == UInt8(ascii: "z") { return 0 }
        guard first == UInt8(ascii: "+") || first == UInt8(ascii: "-"), let hours = digits(2, &rest), skip(":", &rest),
            let minutes = digits(2, &rest), hours < 24, minutes < 60
        else { return nil }
        return (first == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    private static func dayCount(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01, in the Gregorian calendar; years count from March, so that leap days come last.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        return year * 365 + floored(year, 4) - floored(year, 100) + floored(year, 400) + (153 * monthFromMarch + 2) / 5
            + day - 1
            - 719_468
    }

    private static func civil(_ dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let era = floored(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floored(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }
}
