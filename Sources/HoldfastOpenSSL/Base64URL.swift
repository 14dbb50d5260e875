/// Base64 with the URL-safe alphabet and without padding, as JOSE writes it (RFC 7515 section 2, RFC 4648 section 5).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The value of each byte as a digit, 255 where it is none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// The ASCII digits of `bytes`.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count * 4 + 2) / 3)
        var index = 0
        while index < bytes.count {
            let available = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 { group = group << 8 | (offset < available ? UInt32(bytes[index + offset]) : 0) }
            for digit in 0...available { output.append(alphabet[Int(group >> (18 - 6 * UInt32(digit))) & 63]) }
            index += 3
        }
        return output
    }

    /// The bytes that `digits` stand for; nil for anything that ``encode(_:)`` would not have written: padding, spaces,
    /// other alphabets, a length that cannot be, bits left over that are not zero.
    package static func decode(_ digits: Span<UInt8>) -> [UInt8]? {
        guard digits.count % 4 != 1 else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(digits.count * 3 / 4)
        var pending: UInt32 = 0
        var pendingBits: UInt32 = 0
        for index in digits.indices {
            let value = values[Int(digits[index])]
            guard value != 255 else { return nil }
            pending = pending << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                output.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
                pending &= (1 << pendingBits) - 1
            }
        }
        return pending == 0 ? output : nil
    }
}
