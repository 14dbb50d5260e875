internal import CHoldfastOpenSSL

/// A separate OpenSSL context that has old ciphers (RC2, single DES) beside the usual ones, for files that were
/// encrypted long ago. It is made for one file and freed afterwards: nothing else in the process may use those.
@safe
enum LegacyContext {
    /// - Parameter body: must leave nothing behind that was made in the library, but copies.
    /// - Throws: also where OpenSSL's legacy provider is not installed.
    static func with<R>(_ body: (_ library: OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        let library = unsafe try check(OSSL_LIB_CTX_new(), "cannot make a context")
        defer { unsafe OSSL_LIB_CTX_free(library) }
        let standard = unsafe try check(
            OSSL_PROVIDER_load(library, "default"), "cannot load OpenSSL's default provider")
        defer { unsafe OSSL_PROVIDER_unload(standard) }
        guard let old = unsafe OSSL_PROVIDER_load(library, "legacy") else {
            ERR_clear_error()
            throw OpenSSLError(
                "this file is encrypted in a way of old, and OpenSSL's legacy provider, which knows it, is not installed "
                    + "(Debian's package openssl-provider-legacy); install that, or encrypt the file anew")
        }
        defer { unsafe OSSL_PROVIDER_unload(old) }
        return unsafe try body(library)
    }
}
