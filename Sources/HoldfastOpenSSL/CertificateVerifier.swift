private import CHoldfastOpenSSL
private import HoldfastPlatform

/// Verifies the certificate that the other side of a connection shows: its chain up to a trusted certificate, its
/// dates, its purpose, and its names.
///
/// The rules are libcrypto's own, as for `curl` on the same machine: RFC 5280 for chains; RFC 6125 for names, from the
/// subject alternative names only, with an asterisk for a whole first label only. A name is never proven by an entry
/// for an address, nor an address by a name.
///
/// Sendable although it holds a pointer: a complete `X509_STORE` is only read, which OpenSSL 3 allows from any number
/// of threads (it has a lock for look-ups in directories).
@safe
package final class CertificateVerifier: @unchecked Sendable {
    /// The role that the certificate must be valid for.
    package enum Role: Hashable, Sendable {
        /// A server with this name; nil takes any.
        case server(SubjectName?)
        case client

        /// OpenSSL's name for the purpose, and for an authority's trust.
        fileprivate var defaults: String {
            switch self {
            case .server: "ssl_server"
            case .client: "ssl_client"
            }
        }
    }

    private let store: OpaquePointer
    /// Certificates that authorities have revoked; nil where nobody asks for it.
    private let lists: [RevocationList]?

    /// - Parameters:
    ///   - roots: the trusted certificates: of authorities, or of exactly one server. Nil for the system's
    ///     authorities.
    ///   - lists: the revocation lists; then each authority that has signed a certificate of a chain needs one of
    ///     them. Nil checks no revocation.
    package init(trusting roots: [Certificate]?, revoked lists: [RevocationList]? = nil) throws(OpenSSLError) {
        self.lists = lists
        ERR_clear_error()
        let what = "cannot set up the trusted certificates"
        unsafe store = try check(X509_STORE_new(), what)
        if let roots {
            for root in roots { unsafe try check(X509_STORE_add_cert(store, root.handle.pointer), what) }
        } else {
            unsafe try check(X509_STORE_set_default_paths(store), what)
        }
        for list in lists ?? [] { unsafe try check(X509_STORE_add_crl(store, list.handle.pointer), what) }
        unsafe X509_STORE_set_lookup_crls(store, RevocationRules.listsOfIssuer)
    }

    deinit { unsafe X509_STORE_free(store) }

    /// - Parameters:
    ///   - chain: the certificates in the other side's order, its own first; at least one.
    ///   - role: the role that it must be valid for.
    /// - Returns: nil for a valid chain.
    /// - Throws: where libcrypto can't check, for example for lack of memory: then nothing is proven.
    package func fault(in chain: [Certificate], as role: Role) throws(OpenSSLError) -> CertificateFault? {
        switch try verdict(on: chain, as: role) {
        case .good: nil
        case .bad(let fault): fault
        }
    }

    /// The same, with how long it holds.
    package func verdict(on chain: [Certificate], as role: Role) throws(OpenSSLError) -> CertificateVerdict {
        let verdict = try undated(chain, as: role)
        guard case .bad(let fault) = verdict, let leaf = chain.first else { return verdict }
        return .bad(fault.dated(by: leaf))
    }

    private func undated(_ chain: [Certificate], as role: Role) throws(OpenSSLError) -> CertificateVerdict {
        // With revocation lists, the authorities above a trusted one count first: they may have revoked it.
        if lists != nil {
            let verdict = try verdict(on: chain, as: role, endsAtAnyTrusted: false)
            guard case .bad(.untrusted) = verdict else { return verdict }
        }
        return try verdict(on: chain, as: role, endsAtAnyTrusted: true)
    }

    /// - Parameter endsAtAnyTrusted: whether a chain may end at a trusted certificate that has not signed itself.
    private func verdict(
        on chain: [Certificate], as role: Role, endsAtAnyTrusted: Bool
    ) throws(OpenSSLError) -> CertificateVerdict {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let what = "cannot check a certificate"
        guard let leaf = chain.first else { return .bad(.missing) }
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
        unsafe try expect(
            role, of: X509_STORE_CTX_get0_param(context), endsAtAnyTrusted: endsAtAnyTrusted, what)
        if endsAtAnyTrusted { unsafe X509_STORE_CTX_set_verify_cb(context, RevocationRules.sparesTrusted) }
        let result = unsafe X509_verify_cert(context)
        let code = unsafe X509_STORE_CTX_get_error(context)
        if result == 1, code == X509_V_OK { return .good(unsafe try path(context)) }
        guard result >= 0 else { throw .taking(what) }
        let depth = Int(unsafe X509_STORE_CTX_get_error_depth(context))
        let culprit = unsafe X509_STORE_CTX_get_current_cert(context).map { unsafe Certificate(sharing: $0) }
        return .bad(CertificateFault(code, culprit ?? leaf, isLeaf: depth == 0))
    }

    /// The chain that was found, and until when it is good.
    private func path(_ context: OpaquePointer) throws(OpenSSLError) -> CertificatePath {
        let chain = unsafe X509_STORE_CTX_get0_chain(context)
        let shownCount = Int(unsafe X509_STORE_CTX_get_num_untrusted(context))
        let now = Int64(time(nil))
        var (shown, goodUntil): ([Certificate], Int64) = ([], .max)
        for index in 0..<max(unsafe OPENSSL_sk_num(chain), 0) {
            guard let item = unsafe OPENSSL_sk_value(chain, index) else { continue }
            let certificate = unsafe Certificate(sharing: OpaquePointer(item))
            goodUntil = min(goodUntil, try certificate.facts().notAfter)
            for list in lists ?? [] where list.isOfIssuer(of: certificate) {
                // An outdated list is not the one that made the certificate valid.
                if let end = list.end, end > now { goodUntil = min(goodUntil, end) }
            }
            if shown.count < max(shownCount, 1) { shown.append(certificate) }
        }
        return CertificatePath(shown: shown, goodUntil: goodUntil)
    }

    private func expect(
        _ role: Role, of parameters: OpaquePointer?, endsAtAnyTrusted: Bool, _ what: String
    ) throws(OpenSSLError) {
        // To trust a certificate that is no authority's means to trust just that one.
        var flags = endsAtAnyTrusted ? X509_V_FLAG_PARTIAL_CHAIN : 0
        if lists != nil { flags |= X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL }
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

extension CertificateFault {
    /// libcrypto looks at dates when it knows who has signed. People look at dates first.
    fileprivate func dated(by leaf: Certificate) -> CertificateFault {
        let issuer: String?
        switch self {
        case .untrusted(let name): issuer = name
        case .selfSigned: issuer = nil
        default: return self
        }
        guard let end = try? leaf.facts().notAfter, end < Int64(time(nil)) else { return self }
        return .expiredAndUntrusted(at: end, issuer: issuer)
    }
}
