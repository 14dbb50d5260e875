private import CHoldfastOpenSSL

/// The choice of revocation lists, and of the certificates checked against them, where libcrypto's own rules are not
/// enough.
@safe
enum RevocationRules {
    typealias Lookup = @convention(c) (OpaquePointer?, OpaquePointer?) -> OpaquePointer?
    typealias Callback = @convention(c) (CInt, OpaquePointer?) -> CInt

    /// The lists of the authority of the checked certificate. Of several under one name those that the authority's key
    /// has signed: libcrypto takes the newest, which may be that of an authority with the same name. All of them where
    /// the key has signed none, so that libcrypto finds the fault.
    static let listsOfIssuer: Lookup = { context, name in
        let found = unsafe X509_STORE_CTX_get1_crls(context, name)
        let count = unsafe found.map { unsafe OPENSSL_sk_num($0) } ?? 0
        guard count > 1, let key = unsafe issuerKey(context) else { return unsafe found }
        let isSigned = (0..<count).map { index in
            unsafe X509_CRL_verify(OPENSSL_sk_value(found, index).map { OpaquePointer($0) }, key) == 1
        }
        ERR_clear_error()
        guard isSigned.contains(true) else { return unsafe found }
        for index in (0..<count).reversed() where !isSigned[Int(index)] {
            unsafe X509_CRL_free(OPENSSL_sk_delete(found, index).map { OpaquePointer($0) })
        }
        return unsafe found
    }

    private static func issuerKey(_ context: OpaquePointer?) -> OpaquePointer? {
        let chain = unsafe X509_STORE_CTX_get0_chain(context)
        let last = unsafe OPENSSL_sk_num(chain) - 1
        let index = min(unsafe X509_STORE_CTX_get_error_depth(context) + 1, last)
        guard index >= 0, let issuer = unsafe OPENSSL_sk_value(chain, index) else { return nil }
        return unsafe X509_get0_pubkey(OpaquePointer(issuer))
    }

    /// The trusted certificate at the end of a chain needs no list of its own authority, which is not among the trusted
    /// ones.
    static let sparesTrusted: Callback = { isGood, context in
        let depth = unsafe X509_STORE_CTX_get_error_depth(context)
        let last = unsafe OPENSSL_sk_num(X509_STORE_CTX_get0_chain(context)) - 1
        guard isGood == 0, depth > 0, depth == last,
            listFaults.contains(unsafe X509_STORE_CTX_get_error(context))
        else { return isGood }
        unsafe X509_STORE_CTX_set_error(context, X509_V_OK)
        return 1
    }

    private static let listFaults: Set<CInt> = [
        X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_CRL_SIGNATURE_FAILURE,
        X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_DIFFERENT_CRL_SCOPE,
        X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
    ]
}
