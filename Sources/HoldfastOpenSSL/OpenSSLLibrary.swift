private import CHoldfastOpenSSL

/// The libcrypto that runs, which may be another one than was compiled against.
package enum OpenSSLLibrary {
    /// Such as 3.0.17.
    package static var version: String {
        guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
        return unsafe String(cString: text)
    }
}
