private import CHoldfastOpenSSL

/// A certificate authority for tests: only clients that were given its own certificate trust those it issues.
package struct CertificateAuthority: Sendable {
    package let certificate: Certificate
    package let key: ES256PrivateKey

    /// A new authority with a key of its own on P-256, valid for ten years from yesterday.
    ///
    /// - Parameters:
    ///   - commonName: 1 to 64 characters.
    ///   - depth: authorities that may be below it, one under the other.
    package init(commonName: String, depth: Int = 0) throws(OpenSSLError) {
        try self.init(commonName, depth: depth, lifetime: Self.lifetime, signedBy: nil)
    }

    /// A new authority below this one.
    ///
    /// - Parameter lifetime: from now.
    package func subordinate(
        commonName: String, lifetime: Duration = Self.lifetime
    ) throws(OpenSSLError) -> CertificateAuthority {
        try CertificateAuthority(commonName, depth: 0, lifetime: lifetime, signedBy: self)
    }

    package static let lifetime = Duration.seconds(3650 * 86_400)

    private init(
        _ commonName: String, depth: Int, lifetime: Duration, signedBy issuer: CertificateAuthority?
    ) throws(OpenSSLError) {
        let key = try ES256PrivateKey()
        let template = CertificateTemplate(
            commonName: commonName, key: key, lifetime: lifetime,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:\(depth)"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ])
        certificate = try template.signed(by: issuer?.certificate, with: issuer?.key ?? key)
        self.key = key
    }

    /// An authority from the files of an earlier one.
    ///
    /// - Throws: also when the key is not the certificate's.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(OpenSSLError) {
        certificate = try Certificate(pem: certificatePEM)
        key = try ES256PrivateKey(pem: keyPEM)
        guard certificate.certifies(key) else {
            throw OpenSSLError("the certificate authority's key is not that of its certificate")
        }
    }

    /// Issues a certificate for a TLS server (and client), with a new key, valid from yesterday.
    ///
    /// - Parameters:
    ///   - commonName: 1 to 64 characters; only for people.
    ///   - names: the names that clients reach the server by; at least one.
    ///   - start: the start of its validity, from now.
    ///   - lifetime: from now. Browsers and Apple's systems accept at most 397 days.
    ///   - usage: the extended key usage, in OpenSSL's words.
    package func issue(
        commonName: String, names: [SubjectName], start: Duration = .seconds(-86_400),
        lifetime: Duration = .seconds(397 * 86_400), usage: String = "serverAuth,clientAuth"
    ) throws(OpenSSLError) -> (certificate: Certificate, key: ES256PrivateKey) {
        guard !names.isEmpty else { throw OpenSSLError("a server certificate needs a name") }
        var values: [String] = []
        for name in names { values.append(try name.configurationValue()) }
        let key = try ES256PrivateKey()
        let template = CertificateTemplate(
            commonName: commonName, key: key, start: start, lifetime: lifetime,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, usage),
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid:always"),
                (NID_subject_alt_name, values.joined(separator: ",")),
            ])
        return (try template.signed(by: certificate, with: self.key), key)
    }
}

/// A certificate that is not signed yet.
private struct CertificateTemplate {
    let commonName: String
    let key: ES256PrivateKey
    var start = Duration.seconds(-86_400)
    let lifetime: Duration
    /// OpenSSL's number of each extension, with its value in OpenSSL's configuration language.
    let extensions: [(CInt, String)]

    /// - Parameter issuer: nil for a self-signed certificate.
    func signed(by issuer: Certificate?, with signer: ES256PrivateKey) throws(OpenSSLError) -> Certificate {
        ERR_clear_error()
        let what = "cannot make a certificate for \u{22}\(commonName)\u{22}"
        let handle = unsafe CertificateHandle(owning: try check(X509_new(), what))
        let x509 = unsafe handle.pointer
        // 2 stands for version 3.
        unsafe try check(X509_set_version(x509, 2), what)
        try setRandomSerial(of: handle)
        guard unsafe X509_gmtime_adj(X509_getm_notBefore(x509), Int(start.components.seconds)) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(x509), Int(lifetime.components.seconds)) != nil
        else { throw .taking(what) }
        let subject = unsafe X509_get_subject_name(x509)
        unsafe try check(
            X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, commonName, -1, -1, 0), what)
        let issuerPointer = unsafe issuer?.handle.pointer ?? x509
        unsafe try check(X509_set_issuer_name(x509, X509_get_subject_name(issuerPointer)), what)
        unsafe try check(X509_set_pubkey(x509, key.handle.pointer), what)
        for (nid, value) in extensions { try add(nid, value, to: handle, issuer: issuer?.handle ?? handle) }
        guard unsafe X509_sign(x509, signer.handle.pointer, EVP_sha256()) > 0 else { throw .taking(what) }
        return Certificate(handle)
    }

    /// 20 bytes at most, positive (RFC 5280 section 4.1.2.2), and random, so that two authorities of one name do not
    /// hand out the same number.
    private func setRandomSerial(of handle: CertificateHandle) throws(OpenSSLError) {
        let what = "cannot number a certificate"
        let number = unsafe try check(BN_new(), what)
        defer { unsafe BN_free(number) }
        // The top bit set (0: BN_RAND_TOP_ONE), so never zero.
        unsafe try check(BN_rand(number, 159, 0, 0), what)
        guard unsafe BN_to_ASN1_INTEGER(number, X509_get_serialNumber(handle.pointer)) != nil else {
            throw .taking(what)
        }
    }

    private func add(
        _ nid: CInt, _ value: String, to handle: CertificateHandle, issuer: CertificateHandle
    ) throws(OpenSSLError) {
        let what = "cannot write \u{22}\(value)\u{22} into a certificate"
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer.pointer, handle.pointer, nil, nil, 0)
        let made = unsafe try check(X509V3_EXT_conf_nid(nil, &context, nid, value), what)
        defer { unsafe X509_EXTENSION_free(made) }
        unsafe try check(X509_add_ext(handle.pointer, made, -1), what)
    }
}
