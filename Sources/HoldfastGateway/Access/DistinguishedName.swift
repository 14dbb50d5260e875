/// A subject of a certificate in the form of RFC 2253. Two spellings of one name are equal: with letters as they are,
/// or with each of their bytes escaped (`m\C3\BCller`), as `openssl` writes them by default.
struct DistinguishedName: Hashable {
    /// A type with its value, and the separator before it.
    private struct Part: Hashable {
        var separator: UInt8?
        var bytes: [UInt8] = []
        /// Whether the value is the DER in hexadecimal, and no text.
        var isEncoded = false
    }

    private var parts: [Part]

    init(_ text: String) {
        var part = Part()
        parts = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "+"):
                parts.append(part)
                part = Part(separator: byte)
            case UInt8(ascii: "\\"): part.bytes.append(Self.escaped(&rest))
            case UInt8(ascii: "#") where part.bytes.last == UInt8(ascii: "="):
                part.isEncoded = true
                part.bytes.append(byte)
            default: part.bytes.append(byte)
            }
        }
        parts.append(part)
    }

    /// The byte behind a backslash: itself, or the one of two hexadecimal digits.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8 {
        let digits = rest.prefix(2)
        if digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) {
            rest = rest.dropFirst(2)
            return value
        }
        return rest.popFirst() ?? UInt8(ascii: "\\")
    }
}
