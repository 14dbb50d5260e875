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

    /// The eight lower-case digits of a value, the first in the highest byte.
    ///
    /// All at once: a digit at a time would be an unpredictable branch for each.
    @inlinable package static func digits(of value: UInt32) -> UInt64 {
        var nibbles = UInt64(value)
        nibbles = (nibbles | nibbles &<< 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles &<< 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles &<< 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in each byte from 10 on: those are letters.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    }

    /// Appends the first of such digits.
    @inline(__always) @inlinable
    package static func append(_ digits: UInt64, count: Int = 8, to text: inout OutputSpan<UInt8>) {
        for index in 0..<count { text.append(UInt8(truncatingIfNeeded: digits &>> (56 - 8 * index))) }
    }

    /// Appends lower-case digits, two for each byte.
    @inlinable package static func append(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        output.append(addingCapacity: 2 * bytes.count) { text in
            var index = bytes.startIndex
            while bytes.endIndex &- index >= 4 {
                let high = UInt32(bytes[index]) &<< 24 | UInt32(bytes[index &+ 1]) &<< 16
                let low = UInt32(bytes[index &+ 2]) &<< 8 | UInt32(bytes[index &+ 3])
                append(digits(of: high | low), to: &text)
                index &+= 4
            }
            for byte in bytes[index...] {
                text.append(digit(byte >> 4))
                text.append(digit(byte & 15))
            }
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
