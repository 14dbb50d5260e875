package import Holdfast

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

    /// `420 ms`, `1.25 s`, `12.3 s`, `4 min`, `2.5 h`: at most three digits.
    package static func duration(_ duration: Duration) -> String { max(.zero, duration).words }

    /// `, next try in 12 s`; nothing of a time that is not known, or has passed.
    package static func nextTry(_ time: WallTime?, now: WallTime) -> String {
        time.upcoming(at: now).map { ", next try in \(span(max($0.since(now), .seconds(1))))" } ?? ""
    }

    /// About how long: `5 s`, `4 min`, `3 h`, `12 days`
    package static func span(_ duration: Duration) -> String {
        let seconds = max(0, duration.wholeMilliseconds) / 1000
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\(seconds / 60) min" }
        return seconds < 172_800 ? "\(seconds / 3600) h" : "\(count(seconds / 86400)) days"
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
}
