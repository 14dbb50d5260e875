/// `1048576`, `64K`, `64M`, `16G`: binary multiples.
package enum SizeText {
    /// `nil` for a text that is no size.
    package static func value(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let shift: Int
        switch text.dropFirst(digits.count).uppercased() {
        case "": shift = 0
        case "K": shift = 10
        case "M": shift = 20
        case "G": shift = 30
        default: return nil
        }
        guard let number = Int(digits), number > 0, number <= (1 << 44) >> shift else { return nil }
        return number << shift
    }

    /// What is needed, in whole MiB, rounded up.
    package static func mebibytes(_ size: Int) -> String { "\((size + (1 << 20) - 1) >> 20) MiB" }

    package static func text(_ size: Int) -> String {
        for (unit, shift) in [("G", 30), ("M", 20), ("K", 10)] where size > 0 && size.isMultiple(of: 1 << shift) {
            return "\(size >> shift)\(unit)"
        }
        return "\(size)"
    }
}
