/// Hexadecimal digits, as device tokens and apns-ids are written.
package enum Hex {
    /// The value of one digit of either case; nil for any other byte.
    @inlinable package static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }

    /// The lower-case digit of a value from 0 to 15.
    @inlinable package static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ (value &- 10)
    }

    /// Appends lower-case digits, two for each byte.
    @inlinable package static func append(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var position = output.count
        output.append(contentsOf: repeatElement(0, count: 2 * bytes.count))
        var digits = output.mutableSpan
        for byte in bytes {
            digits[position] = digit(byte >> 4)
            digits[position &+ 1] = digit(byte & 15)
            position &+= 2
        }
    }

    /// Lower-case digits, two for each byte.
    package static func string(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The bytes of digits of either case, two for each; nil for anything else.
    ///
    /// By table, and looked at once at the end: which digits of a token are letters can't be foretold, and so would each
    /// comparison be.
    package static func bytes(_ digits: Span<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = [UInt8](repeating: 0, count: digits.count / 2)
        var output = bytes.mutableSpan
        let values = values.span
        var all: UInt8 = 0
        for index in output.indices {
            let high = values[Int(digits[2 &* index])]
            let low = values[Int(digits[2 &* index &+ 1])]
            output[index] = high << 4 | low
            all |= high | low
        }
        return all < 16 ? bytes : nil
    }

    /// The value of each byte as a digit; 255 for one that is none.
    private static let values: [UInt8] = (0...255).map { value(of: $0) ?? 255 }

    /// The bytes of digits of either case, two for each; nil for anything else.
    package static func bytes(_ digits: some StringProtocol) -> [UInt8]? {
        bytes(Array(digits.utf8).span)
    }
}
