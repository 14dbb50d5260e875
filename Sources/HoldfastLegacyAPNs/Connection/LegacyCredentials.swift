internal import Holdfast
internal import HoldfastTransport
internal import NIOSSL

/// What a connector appears with and whom it trusts, read at one time.
struct LegacyCredentials: CredentialContents {
    private let certificate: ClientCertificate.Loaded?
    /// Nil for cleartext.
    let tls: NIOSSLContext?
    /// SHA-256 of the file with the trusted certificates; nil where there is none.
    private let trust: [UInt8]?
    let certificateEnd: (named: String, notAfter: Int64)?
    let text: String

    /// Reads everything. In the clear there is nothing to read.
    ///
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    init(_ configuration: LegacyAPNsConnector.Configuration) throws(TransportConfigurationError) {
        guard !configuration.endpoint.isCleartext else {
            (certificate, tls, trust, certificateEnd, text) = (nil, nil, nil, nil, "")
            return
        }
        certificate = try configuration.clientCertificate?.load(at: configuration.clock.wall())
        // Before the context is made of it: what changes in between is then seen as changed.
        trust = try configuration.trust.digest()
        tls = try ClientTLS.context(trust: configuration.trust, identity: certificate?.identity)
        var parts: [String] = []
        if let certificate, let named = configuration.clientCertificate?.named {
            certificateEnd = (named, certificate.notAfter)
            parts.append("\(named), good until \(ClientCertificate.text(certificate.notAfter))")
        } else {
            certificateEnd = nil
        }
        if let file = configuration.trust.file { parts.append("the trusted certificates in \(file)") }
        text = parts.joined(separator: "; ")
    }

    func isSame(as other: LegacyCredentials) -> Bool {
        trust == other.trust && certificate?.chain == other.certificate?.chain
            && certificate?.key == other.certificate?.key
    }
}

extension LegacyAPNsConnector.Configuration {
    /// The paths of all files that credentials and trust are read from.
    var credentialFiles: [String] {
        endpoint.isCleartext ? [] : (clientCertificate?.files ?? []) + [trust.file].compactMap { $0 }
    }
}
