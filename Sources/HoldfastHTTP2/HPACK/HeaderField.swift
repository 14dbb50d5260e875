/// A header field as text. Bytes that are no UTF-8 are replaced.
package struct HeaderField: Sendable, Equatable {
    /// Lower case in every field of a message that was reported.
    package let name: String
    package let value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}

extension [HeaderField] {
    /// The value of the first field of that name, which is lower case.
    package func first(name: String) -> String? { first { $0.name == name }?.value }
}

extension HeaderField {
    /// The validity of a field (RFC 9113 §8.2), and its meaning where HTTP/2 itself reads it.
    ///
    /// Determined when the field is decoded: a field that recurs out of a dynamic table is checked once.
    package enum Kind: UInt8, Sendable {
        case method, scheme, path, authority, status
        /// A pseudo-header that HTTP/2 does not know.
        case unknownPseudo
        case contentLength
        case regular
        /// The field is not valid: its message is malformed.
        case malformed
    }
}

extension HeaderField.Kind {
    /// - Parameter code: the number of the name.
    init(_ code: HeaderNames.Code, _ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard Self.isValue(value) else {
            self = .malformed
            return
        }
        switch HeaderNames.Own(rawValue: code) {
        case .method: self = .method
        case .scheme: self = .scheme
        case .path: self = .path
        case .authority: self = .authority
        case .status: self = .status
        case .contentLength: self = .contentLength
        case .te: self = value.has(Self.trailers, at: 0) && value.count == Self.trailers.count ? .regular : .malformed
        case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: self = .malformed
        // A name that was asked for is well-formed.
        case nil where code != HeaderNames.unknown: self = .regular
        case nil where !name.isEmpty && name[0] == UInt8(ascii: ":"): self = .unknownPseudo
        case nil: self = Self.isName(name) ? .regular : .malformed
        }
    }

    private static let trailers = Array("trailers".utf8)

    /// Whether a name is in lower case and has no byte that §8.2.1 forbids.
    private static func isName(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte <= 0x20 || byte >= 0x7f || byte == UInt8(ascii: ":") || (byte >= 0x41 && byte <= 0x5a) {
                return false
            }
        }
        return !bytes.isEmpty
    }

    /// Whether a value has no NUL, LF or CR, and no blank at either end (§8.2.1).
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
