internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport
internal import NIOSSL

/// What a connector appears with and whom it trusts, read at one time.
struct Credentials: CredentialContents {
    /// Nil without a signing key.
    let tokens: ProviderTokenSource?
    /// Nil without a client certificate.
    let certificate: ClientCertificate.Loaded?
    /// Nil for cleartext.
    let tls: NIOSSLContext?
    /// SHA-256 of the file with the trusted certificates; nil where there is none.
    private let trust: [UInt8]?
    let certificateEnd: (named: String, notAfter: Int64)?
    let text: String

    /// Reads everything.
    ///
    /// - Parameter generation: 1 takes the signing key as it is, which was read a moment ago.
    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    init(_ configuration: APNsConnector.Configuration, generation: Int) throws(APNsConfigurationError) {
        guard configuration.signingKey == nil || configuration.clientCertificate == nil else {
            throw APNsConfigurationError(
                "a signing key and a client certificate on one route: the service knows a sender by the one or the other"
            )
        }
        let key = generation == 1 ? configuration.signingKey : try configuration.signingKey?.reloaded()
        tokens = key.map { configuration.tokens.source(for: $0) }
        do throws(TransportConfigurationError) {
            certificate = try configuration.clientCertificate?.load(at: configuration.clock.wall())
            // Before the context is made of it: what changes in between is then seen as changed.
            trust = configuration.endpoint.isCleartext ? nil : try configuration.trust.digest()
            tls =
                configuration.endpoint.isCleartext
                ? nil
                : try ClientTLS.context(
                    trust: configuration.trust, protocols: ["h2"], identity: certificate?.identity,
                    verifiesHostName: configuration.verifiesHostName)
        } catch {
            throw APNsConfigurationError(error.message)
        }
        if let certificate, let named = configuration.clientCertificate?.named {
            certificateEnd = (named, certificate.notAfter)
        } else {
            certificateEnd = nil
        }
        text = Self.text(configuration, certificate)
        try checkEnvironment(configuration)
    }

    /// Apple's certificates say which of Apple's two services they are for.
    private func checkEnvironment(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        guard let facts = certificate?.facts, facts.isForSandbox || facts.isForProduction else { return }
        let (host, name) = (configuration.endpoint.host, configuration.clientCertificate?.named ?? "")
        if host == APNsEndpoint.production.host, !facts.isForProduction {
            throw APNsConfigurationError("\(name) is for the sandbox only, and \(host) is production")
        }
        if host == APNsEndpoint.sandbox.host, !facts.isForSandbox {
            throw APNsConfigurationError("\(name) is for production only, and \(host) is the sandbox")
        }
    }

    /// The topics that the certificate is good for; nil where that can't be told.
    var topics: Set<String>? { certificate?.facts.topics }

    /// Whether the service would see no difference.
    func isSame(as other: Credentials) -> Bool {
        tokens === other.tokens && trust == other.trust && certificate?.chain == other.certificate?.chain
            && certificate?.key == other.certificate?.key
    }

    private static func text(
        _ configuration: APNsConnector.Configuration, _ certificate: ClientCertificate.Loaded?
    ) -> String {
        var parts: [String] = []
        if let key = configuration.signingKey {
            parts.append("the \(key.source.named("signing key")) (key \(key.keyID) of team \(key.teamID))")
        }
        if let certificate, let named = configuration.clientCertificate?.named {
            parts.append("\(named), good until \(ClientCertificate.text(certificate.facts.notAfter))")
        }
        if case .file(let path) = configuration.trust { parts.append("the trusted certificates in \(path)") }
        return parts.joined(separator: "; ")
    }
}

extension APNsConnector.Configuration {
    /// The paths of all files that credentials and trust are read from.
    var credentialFiles: [String] {
        var files = (signingKey?.files ?? []) + (clientCertificate?.files ?? [])
        if let file = trust.file, !endpoint.isCleartext { files.append(file) }
        return files
    }
}
