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
    package static func bytes(_ digits: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt8?
        for digit in digits.utf8 {
            guard let value = value(of: digit) else { return nil }
            if let high = pending {
                bytes.append(high << 4 | value)
                pending = nil
            } else {
                pending = value
            }
        }
        return pending == nil ? bytes : nil
    }
}
