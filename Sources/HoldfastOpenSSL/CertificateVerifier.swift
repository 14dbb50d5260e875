private import CHoldfastOpenSSL

/// Checks the certificate that the other side of a connection shows: its chain up to one that is trusted, its dates, what it
/// is for, and whose it is.
///
/// The rules are libcrypto's own, as they hold for `curl` on the same machine: RFC 5280 for chains; the names by RFC 6125,
/// from the subject alternative names only, an asterisk for a whole first label only. A name is never proven by an entry for
/// an address, nor an address by a name.
///
/// Sendable although it holds a pointer: an `X509_STORE` that is complete is only read, which OpenSSL 3 allows from any
/// number of threads (it has a lock for what it looks up in directories).
@safe
package final class CertificateVerifier: @unchecked Sendable {
    /// What the certificate must be for.
    package enum Role: Hashable, Sendable {
        /// A server with this name; nil takes any.
        case server(SubjectName?)
        case client

        /// OpenSSL's name for the purpose, and for what an authority is trusted with.
        fileprivate var defaults: String {
            switch self {
            case .server: "ssl_server"
            case .client: "ssl_client"
            }
        }
    }

    private let store: OpaquePointer
    private let checksRevocation: Bool

    /// - Parameters:
    ///   - roots: whom it trusts: authorities, or exactly one server. Nil for the system's authorities.
    ///   - lists: what they have taken back; then a list of whoever has signed a certificate has to be among them. Nil asks
    ///     for none.
    package init(trusting roots: [Certificate]?, revoked lists: [RevocationList]? = nil) throws(OpenSSLError) {
        checksRevocation = lists != nil
        ERR_clear_error()
        let what = "cannot set up the trusted certificates"
        unsafe store = try check(X509_STORE_new(), what)
        if let roots {
            for root in roots { unsafe try check(X509_STORE_add_cert(store, root.handle.pointer), what) }
        } else {
            unsafe try check(X509_STORE_set_default_paths(store), what)
        }
        for list in lists ?? [] { unsafe try check(X509_STORE_add_crl(store, list.handle.pointer), what) }
    }

    deinit { unsafe X509_STORE_free(store) }

    /// - Parameters:
    ///   - chain: as the other side shows it, its own first; at least one.
    ///   - role: what it must be for.
    /// - Returns: nil where all is good.
    /// - Throws: where libcrypto can't check, for want of memory for instance: then nothing is proven.
    package func fault(in chain: [Certificate], as role: Role) throws(OpenSSLError) -> CertificateFault? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let what = "cannot check a certificate"
        guard let leaf = chain.first else { return .missing }
        let others = unsafe try check(OPENSSL_sk_new_null(), what)
        defer { unsafe OPENSSL_sk_free(others) }
        for certificate in chain.dropFirst() {
            guard unsafe OPENSSL_sk_push(others, UnsafeRawPointer(certificate.handle.pointer)) > 0 else {
                throw .taking(what)
            }
        }
        let context = unsafe try check(X509_STORE_CTX_new(), what)
        defer { unsafe X509_STORE_CTX_free(context) }
        unsafe try check(X509_STORE_CTX_init(context, store, leaf.handle.pointer, others), what)
        unsafe try check(X509_STORE_CTX_set_default(context, role.defaults), what)
        unsafe try expect(role, of: X509_STORE_CTX_get0_param(context), what)
        let result = unsafe X509_verify_cert(context)
        let code = unsafe X509_STORE_CTX_get_error(context)
        if result == 1, code == X509_V_OK { return nil }
        guard result >= 0 else { throw .taking(what) }
        let depth = Int(unsafe X509_STORE_CTX_get_error_depth(context))
        let culprit = unsafe X509_STORE_CTX_get_current_cert(context).map { current in
            unsafe X509_up_ref(current)
            return unsafe Certificate(CertificateHandle(owning: current))
        }
        return CertificateFault(code, culprit ?? leaf, isLeaf: depth == 0)
    }

    private func expect(_ role: Role, of parameters: OpaquePointer?, _ what: String) throws(OpenSSLError) {
        // Who trusts a certificate that is no authority's trusts just that one.
        let flags = X509_V_FLAG_PARTIAL_CHAIN | (checksRevocation ? X509_V_FLAG_CRL_CHECK : 0)
        unsafe try check(X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)), what)
        // 112 bits: RSA from 2048 bits on, SHA-2; as TLS on Debian.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        guard case .server(let name?) = role else { return }
        unsafe X509_VERIFY_PARAM_set_hostflags(
            parameters, CUnsignedInt(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        switch name {
        case .dns(let host):
            let host = host.hasSuffix(".") ? String(host.dropLast()) : host
            // An empty name would switch the check off.
            guard !host.isEmpty, !host.utf8.contains(0) else { throw OpenSSLError("an empty host name") }
            unsafe try check(X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count), what)
        case .ip(let address):
            unsafe try check(X509_VERIFY_PARAM_set1_ip_asc(parameters, address), what)
        }
    }
}

/// Why a certificate proves nothing.
package enum CertificateFault: Error, Hashable, Sendable {
    /// None was shown.
    case missing
    /// Its last second, in Unix seconds; nil where its dates can't be read.
    ///
    /// - Parameter authority: whose certificate it is; nil for that of the other side itself.
    case expired(at: Int64?, authority: String?)
    /// Its first second, in Unix seconds; nil where its dates can't be read.
    case notYetValid(until: Int64?, authority: String?)
    /// It is for these names, and no other.
    case otherName([SubjectName])
    /// Nobody who is trusted has signed it.
    ///
    /// - Parameter issuer: who has.
    case untrusted(issuer: String)
    /// It has signed itself.
    case selfSigned
    /// It is not for what it is used for: not for servers, for instance.
    case otherPurpose
    case revoked
    /// Whoever has signed it has no revocation list among those that are known.
    case unlisted(issuer: String)
    /// The revocation list of whoever has signed it is out of date.
    case outdatedList(issuer: String)
    /// In libcrypto's words.
    case other(String)

    fileprivate init(_ code: CInt, _ culprit: Certificate, isLeaf: Bool) {
        let authority = isLeaf ? nil : culprit.subject
        let dates = try? culprit.facts()
        self =
            switch code {
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired(at: dates?.notAfter, authority: authority)
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid(until: dates?.notBefore, authority: authority)
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .otherName(culprit.subjectNames)
            case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                .untrusted(issuer: culprit.issuer)
            case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: .untrusted(issuer: culprit.subject)
            case X509_V_ERR_INVALID_PURPOSE: .otherPurpose
            case X509_V_ERR_CERT_REVOKED: .revoked
            case X509_V_ERR_UNABLE_TO_GET_CRL: .unlisted(issuer: culprit.issuer)
            case X509_V_ERR_CRL_HAS_EXPIRED: .outdatedList(issuer: culprit.issuer)
            default: .other(unsafe String(cString: X509_verify_cert_error_string(Int(code))))
            }
    }
}
