private import CHoldfastOpenSSL

/// SHA-256.
package enum SHA256 {
    /// 32 bytes.
    package static func digest(_ bytes: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var digest = [UInt8](repeating: 0, count: 32)
        var count: CUnsignedInt = 0
        try check(
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe EVP_Digest(buffer.baseAddress, buffer.count, &digest, &count, EVP_sha256(), nil)
            }, "cannot compute a digest")
        guard count == 32 else { throw OpenSSLError("SHA-256 gave \(count) bytes") }
        return digest
    }
}
