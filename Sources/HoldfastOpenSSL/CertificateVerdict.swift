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

/// The reason why a certificate is not valid.
package enum CertificateFault: Error, Hashable, Sendable {
    /// None was shown.
    case missing
    /// It has expired: its last second, in Unix seconds; nil where its dates can't be read.
    ///
    /// - Parameter authority: the authority whose certificate it is; nil for the other side's own.
    case expired(at: Int64?, authority: String?)
    /// It has expired, and no trusted authority has signed it either. Its last second, in Unix seconds.
    ///
    /// - Parameter issuer: the authority that has; nil for itself.
    case expiredAndUntrusted(at: Int64, issuer: String?)
    /// It is not valid yet: its first second, in Unix seconds; nil where its dates can't be read.
    case notYetValid(until: Int64?, authority: String?)
    /// It is for other names, which are listed.
    case otherName([SubjectName])
    /// No trusted authority has signed it.
    ///
    /// - Parameter issuer: the authority that has.
    case untrusted(issuer: String)
    /// It is self-signed.
    case selfSigned
    /// It is for another purpose: not for servers, for instance.
    case otherPurpose
    /// Its authority has revoked it.
    ///
    /// - Parameter authority: the authority whose certificate it is; nil for the other side's own.
    case revoked(authority: String?)
    /// The authority that has signed it, or one above, has no known revocation list.
    case unlisted(issuer: String)
    /// The revocation list of that authority is out of date.
    case outdatedList(issuer: String)
    /// The revocation list under the name of that authority is signed with another key.
    case forgedList(issuer: String)
    /// Another fault, in libcrypto's words.
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
