/// HKDF with SHA-256 (RFC 5869), for keys of 32 bytes.
package enum HKDFSHA256 {
    /// 32 bytes.
    ///
    /// - Parameters:
    ///   - key: at least one byte, hard to guess.
    ///   - salt: need not be secret; empty for none.
    ///   - purpose: keys for different purposes say nothing of each other.
    package static func derive(
        from key: Span<UInt8>, salt: Span<UInt8>, purpose: Span<UInt8>
    ) throws(OpenSSLError) -> [UInt8] {
        let noSalt = [UInt8](repeating: 0, count: 32)
        let extracted = try HMACSHA256.code(key, key: salt.isEmpty ? noSalt.span : salt)
        var message: [UInt8] = []
        for index in 0..<purpose.count { message.append(purpose[index]) }
        message.append(1)
        return try HMACSHA256.code(message.span, key: extracted.span)
    }
}
