private import CHoldfastOpenSSL

/// HMAC with SHA-256 under one key, many times: the key is prepared once.
///
/// Not for two threads at a time.
@safe package final class KeyedHash {
    package static let byteCount = 32
    private let context: OpaquePointer

    /// - Parameter key: at least one byte.
    package init(key: Span<UInt8>) throws(OpenSSLError) {
        ERR_clear_error()
        let what = "cannot compute an HMAC"
        let kind = unsafe try check(EVP_MAC_fetch(nil, "HMAC", nil), what)
        defer { unsafe EVP_MAC_free(kind) }
        let made = unsafe try check(EVP_MAC_CTX_new(kind), what)
        unsafe context = made
        var name = Array("SHA256".utf8CString)
        let result = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe key.withUnsafeBufferPointer { key in
                var parameters = unsafe [
                    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return unsafe EVP_MAC_init(made, key.baseAddress, key.count, &parameters)
            }
        }
        try check(result, what)
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// 32 bytes.
    package func hash(_ bytes: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let context = unsafe context
        var code = [UInt8](repeating: 0, count: Self.byteCount)
        let isDone = unsafe code.withUnsafeMutableBufferPointer { code in
            var count = 0
            return unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && bytes.withUnsafeBufferPointer { bytes in
                    unsafe bytes.isEmpty || EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1
                } && EVP_MAC_final(context, code.baseAddress, &count, code.count) == 1 && count == Self.byteCount
        }
        guard isDone else { throw .taking("cannot compute an HMAC") }
        return code
    }
}
