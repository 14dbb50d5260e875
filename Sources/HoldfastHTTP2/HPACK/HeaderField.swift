/// A header field as it was received.
///
/// Whether it is one at all (RFC 9113 §8.2), and which of those that HTTP/2 itself looks at, is found out when it is
/// decoded: a field that comes again and again out of a dynamic table is looked at once.
package struct HeaderField: Sendable, Equatable {
    /// Lower case in every field of a message that was reported. Bytes that are no UTF-8 are replaced, here and in `value`.
    package let name: String
    package let value: String
    let kind: Kind
    /// Bytes of name and value as the peer counts them, before any were replaced.
    let nameCount, valueCount: Int

    init(name: String, value: String, nameCount: Int, valueCount: Int) {
        (self.name, self.value) = (name, value)
        (self.nameCount, self.valueCount) = (nameCount, valueCount)
        kind = Kind(of: name, value)
    }

    /// What it takes in a dynamic table, and in the header list that ``HTTP2Limits/maxHeaderBlock`` bounds.
    var size: Int { HPACKWriter.entrySize(nameCount: nameCount, valueCount: valueCount) }
}

extension [HeaderField] {
    /// The value of the first field of that name, which is lower case.
    package func first(name: String) -> String? { first { $0.name == name }?.value }
}

extension HeaderField {
    enum Kind: UInt8, Sendable {
        case method, scheme, path, authority, status
        /// A pseudo-header that HTTP/2 does not know.
        case unknownPseudo
        case contentLength
        case regular
        /// No field of HTTP/2: the message that has it is malformed.
        case malformed
    }
}

extension HeaderField.Kind {
    init(of name: String, _ value: String) {
        guard Self.isValue(value.utf8.span) else {
            self = .malformed
            return
        }
        let bytes = name.utf8.span
        if !bytes.isEmpty, bytes[0] == UInt8(ascii: ":") {
            self = Self.pseudo(name)
        } else {
            self = Self.isName(bytes) ? Self.regular(name, value) : .malformed
        }
    }

    private static func pseudo(_ name: String) -> Self {
        switch name {
        case ":method": .method
        case ":scheme": .scheme
        case ":path": .path
        case ":authority": .authority
        case ":status": .status
        default: .unknownPseudo
        }
    }

    private static func regular(_ name: String, _ value: String) -> Self {
        switch name {
        case "te": value == "trailers" ? .regular : .malformed
        case "upgrade", "connection", "keep-alive", "proxy-connection", "transfer-encoding": .malformed
        case "content-length": .contentLength
        default: .regular
        }
    }

    /// Lower case, and none of what §8.2.1 forbids in a name.
    private static func isName(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte <= 0x20 || byte >= 0x7f || byte == UInt8(ascii: ":") || (byte >= 0x41 && byte <= 0x5a) {
                return false
            }
        }
        return !bytes.isEmpty
    }

    /// No NUL, LF or CR anywhere, no blank at either end (§8.2.1).
    private static func isValue(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return true }
        // The smallest byte tells for nearly all values, and is found many bytes at a time.
        var smallest = UInt8.max
        for index in bytes.indices { smallest = min(smallest, bytes[index]) }
        if smallest <= 13 {
            for index in bytes.indices where bytes[index] == 0 || bytes[index] == 10 || bytes[index] == 13 {
                return false
            }
        }
        return !isBlank(bytes[0]) && !isBlank(bytes[bytes.count - 1])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
