private import CHoldfastOpenSSL

/// The outcome of a check of a certificate.
package enum CertificateVerdict: Sendable {
    case good(CertificatePath)
    case bad(CertificateFault)
}

/// A chain that leads to a trusted certificate.
package struct CertificatePath: Sendable {
    /// The certificates that the other side has shown and that are part of the chain, its own first.
    package let shown: [Certificate]
    /// Unix seconds: the earliest end of a certificate of the chain or of a revocation list that it is good by. It says
    /// nothing of the time afterwards, when another list may do.
    package let goodUntil: Int64
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
    /// Its authority has taken it back.
    ///
    /// - Parameter authority: whose certificate it is; nil for that of the other side itself.
    case revoked(authority: String?)
    /// The authority that has signed it, or one above, has no revocation list among those that are known.
    case unlisted(issuer: String)
    /// The revocation list of that authority is out of date.
    case outdatedList(issuer: String)
    /// The revocation list under the name of that authority is signed with another key.
    case forgedList(issuer: String)
    /// In libcrypto's words.
    case other(String)

    init(_ code: CInt, _ culprit: Certificate, isLeaf: Bool) {
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
            case X509_V_ERR_CERT_REVOKED: .revoked(authority: authority)
            case X509_V_ERR_UNABLE_TO_GET_CRL: .unlisted(issuer: culprit.issuer)
            case X509_V_ERR_CRL_HAS_EXPIRED: .outdatedList(issuer: culprit.issuer)
            case X509_V_ERR_CRL_SIGNATURE_FAILURE: .forgedList(issuer: culprit.issuer)
            default: .other(unsafe String(cString: X509_verify_cert_error_string(Int(code))))
            }
    }
}
