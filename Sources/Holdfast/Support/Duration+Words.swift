extension Duration {
    /// For people, in at most three digits: `908 ms`, `12.5 s`, `10 min`, `48 h`.
    package var words: String {
        let milliseconds = wholeMilliseconds
        let size = milliseconds.magnitude
        let sign = milliseconds < 0 ? "-" : ""
        if size < 1000 { return "\(sign)\(size) ms" }
        for (unit, length, most) in [("s", 1000 as UInt64, 120 as UInt64), ("min", 60_000, 120), ("h", 3_600_000, 72)]
        where size < most * length {
            return sign + Self.decimal(size, length) + " \(unit)"
        }
        return sign + Self.decimal(size, 86_400_000) + " days"
    }

    private static func decimal(_ size: UInt64, _ length: UInt64) -> String {
        let whole = size / length
        guard whole < 100 else { return "\((size + length / 2) / length)" }
        let scale: UInt64 = whole < 10 ? 100 : 10
        let (units, rest) = ((size * scale + length / 2) / length).quotientAndRemainder(dividingBy: scale)
        guard rest > 0 else { return "\(units)" }
        var digits = "\(rest)"
        while scale == 100, digits.utf8.count < 2 { digits = "0" + digits }
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(units).\(digits)"
    }
}
