private import CHoldfastOpenSSL

/// Bytes that nobody can guess.
package enum RandomBytes {
    package static func make(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe RAND_bytes(bytes.baseAddress, CInt(bytes.count))
        }
        try check(result, "there are no random bytes")
        return bytes
    }

    /// Overwrites bytes that are secret before their memory is given back.
    package static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { bytes in unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count) }
    }
}
