private import CHoldfastOpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// 32 bytes.
    ///
    /// - Parameter key: at least one byte.
    package static func code(_ message: Span<UInt8>, key: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: 32)
        var count = 0
        let result = unsafe message.withUnsafeBufferPointer { message in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe code.withUnsafeMutableBufferPointer { code in
                    unsafe EVP_Q_mac(
                        nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count, message.baseAddress,
                        message.count, code.baseAddress, code.count, &count)
                }
            }
        }
        guard unsafe result != nil else { throw .taking("cannot compute an HMAC") }
        guard count == 32 else { throw OpenSSLError("HMAC with SHA-256 gave \(count) bytes") }
        return code
    }

    /// Whether a code is that of a message, in a time that says nothing of where it differs.
    ///
    /// - Parameter key: at least one byte.
    package static func isCode(
        _ code: Span<UInt8>, of message: Span<UInt8>, key: Span<UInt8>
    ) throws(OpenSSLError) -> Bool {
        let own = try self.code(message, key: key)
        guard code.count == own.count else { return false }
        return unsafe code.withUnsafeBufferPointer { code in
            unsafe own.withUnsafeBufferPointer { own in
                unsafe CRYPTO_memcmp(code.baseAddress, own.baseAddress, own.count) == 0
            }
        }
    }
}
