package import Holdfast

/// A connector's certificate and trusted certificates for TLS, read at one time, for any protocol above it.
package struct TLSCredentials: CredentialContents {
    /// nil without a client certificate.
    package let certificate: ClientCertificate.Loaded?
    /// nil for cleartext.
    package let tls: ClientTLS?
    package let certificateEnd: (named: String, notAfter: Int64)?
    package let text: String
    /// Until when the chain is good that the service has shown last, in Unix seconds; nil before the first.
    package var serviceEnd: Int64? { tls?.serviceEnd }
    /// SHA-256 of the file with the trusted certificates; nil where there is none.
    private let trust: [UInt8]?

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - certificate: nil shows none.
    ///   - trust: nil for cleartext.
    ///   - now: compared with the certificate's dates.
    /// - Throws: an error that names the file that is missing or invalid.
    package init(
        certificate source: ClientCertificate?, trust: TrustedCertificates?, protocols: [String] = [],
        verifiesHostName: Bool = true, now: WallTime
    ) throws(TransportConfigurationError) {
        certificate = try source?.load(at: now)
        // Before the context is made of it: a change in between is then seen.
        self.trust = try trust?.digest()
        if let trust {
            tls = try ClientTLS(
                trust: trust, protocols: protocols, certificate: certificate, verifiesHostName: verifiesHostName)
        } else {
            tls = nil
        }
        var words: [String] = []
        if let certificate, let named = source?.named {
            certificateEnd = (named, certificate.notAfter)
            words.append("\(named), good until \(ClientCertificate.text(certificate.notAfter))")
        } else {
            certificateEnd = nil
        }
        if let file = trust?.file { words.append("the trusted certificates in \(file)") }
        text = words.joined(separator: "; ")
    }

    package func isSame(as other: TLSCredentials) -> Bool {
        trust == other.trust && certificate?.chain == other.certificate?.chain
            && certificate?.key == other.certificate?.key
    }
}
