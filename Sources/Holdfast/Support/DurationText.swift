/// `500ms`, `30s`, `5m`, `1h`, `7d`; a bare number is seconds.
package enum DurationText {
    /// `nil` for a text that is no duration.
    package static func value(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        // A hundred days in milliseconds are more than anybody waits, and no product below overflows.
        guard let number = Int(digits), (0...8_640_000_000).contains(number) else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s", "": return .seconds(number)
        case "m": return .seconds(number * 60)
        case "h": return .seconds(number * 3600)
        case "d": return .seconds(number * 86400)
        default: return nil
        }
    }

    /// The shortest that means the same, to the millisecond.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        guard milliseconds.isMultiple(of: 1000) else { return "\(milliseconds)ms" }
        let seconds = milliseconds / 1000
        for (unit, length) in [("d", 86400 as Int64), ("h", 3600), ("m", 60)]
        where seconds > 0 && seconds.isMultiple(of: length) { return "\(seconds / length)\(unit)" }
        return "\(seconds)s"
    }
}
