internal import Holdfast

/// Figures and spans of time for people.
package enum Format {
    /// `1,234,567`
    package static func count(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var output = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { output.append(",") }
            output.append(digit)
        }
        return value < 0 ? "-" + output : output
    }

    /// `0.42 s`, `12.3 s`, `4:05 min`, `1:02:03 h`
    package static func duration(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.wholeMilliseconds)
        let seconds = milliseconds / 1000
        if milliseconds < 10_000 { return decimal(milliseconds / 10, 2) + " s" }
        if seconds < 60 { return decimal(milliseconds / 100, 1) + " s" }
        if seconds < 3600 { return "\(seconds / 60):\(padded(seconds % 60)) min" }
        return "\(seconds / 3600):\(padded(seconds / 60 % 60)):\(padded(seconds % 60)) h"
    }

    /// About how long: `5 s`, `4 min`, `3 h`, `12 days`
    package static func span(_ duration: Duration) -> String {
        let seconds = max(0, duration.wholeMilliseconds) / 1000
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\(seconds / 60) min" }
        return seconds < 172_800 ? "\(seconds / 3600) h" : "\(count(seconds / 86400)) days"
    }

    /// `0:07`, `4:05`, `1:02:03`
    package static func clock(_ duration: Duration) -> String {
        let seconds = max(0, duration.wholeMilliseconds) / 1000
        let hours = seconds >= 3600 ? "\(seconds / 3600):\(padded(seconds / 60 % 60))" : "\(seconds / 60)"
        return "\(hours):\(padded(seconds % 60))"
    }

    /// `512 B`, `1.5 KB`, `64.0 MB`
    package static func bytes(_ count: Int) -> String {
        var tenths = count * 10
        var unit = 0
        let units = ["B", "KB", "MB", "GB", "TB"]
        while tenths >= 10240, unit < units.count - 1 {
            tenths /= 1024
            unit += 1
        }
        return unit == 0 ? "\(count) B" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// `1 notification`, `2 notifications`
    package static func plural(_ count: some BinaryInteger, _ noun: String) -> String {
        plural(count, noun, "\(noun)s")
    }

    /// `1 entry`, `2 entries`
    package static func plural(_ count: some BinaryInteger, _ one: String, _ many: String) -> String {
        "\(Self.count(count)) \(count == 1 ? one : many)"
    }

    private static func decimal(_ value: Int64, _ places: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        let fraction = String(value % scale)
        return "\(value / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }

    private static func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
