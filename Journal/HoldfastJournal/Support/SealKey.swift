import Foundation
import HoldfastOpenSSL

/// One key of sealed journals. Its bytes are overwritten when it goes, and never printed.
final class SealKey: @unchecked Sendable {  // nothing changes it before it goes
    static let byteCount = AES256GCM.keyByteCount

    let id: SealKeyID
    private var bytes: [UInt8]

    init(_ bytes: [UInt8]) throws(OpenSSLError) {
        guard bytes.count == Self.byteCount else { throw OpenSSLError("a key has 32 bytes, not \(bytes.count)") }
        let purpose = Array("holdfast journal key id 1".utf8)
        let first = try HKDFSHA256.derive(from: bytes.span, salt: Span<UInt8>(), purpose: purpose.span)
        id = SealKeyID(rawValue: first[0..<8].reduce(0) { $0 << 8 | UInt64($1) })
        self.bytes = bytes
    }

    deinit { RandomBytes.wipe(&bytes) }

    /// A random key.
    static func random() throws(OpenSSLError) -> SealKey {
        var bytes = try RandomBytes.make(byteCount)
        defer { RandomBytes.wipe(&bytes) }
        return try SealKey(bytes)
    }

    /// The key of the rows that one opening of a journal seals, which has this salt.
    func rowKey(salt: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let (bytes, purpose) = (bytes, Array("holdfast journal rows 1".utf8))
        return try HKDFSHA256.derive(from: bytes.span, salt: salt.span, purpose: purpose.span)
    }

    /// The key as it stands in a file.
    var line: [UInt8] {
        let bytes = bytes
        return KeyFile.mark + Base64URL.encode(bytes.span)
    }
}

/// The name of a key, derived from it: it says which key a row needs, and nothing else of it.
struct SealKeyID: Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt64

    var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
