internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport
internal import NIOSSL

/// What a connector appears with and whom it trusts, read at one time. What comes later is another generation.
struct Credentials: Sendable {
    /// From 1.
    let generation: Int
    /// Nil without a signing key.
    let tokens: ProviderTokenSource?
    /// Nil without a client certificate.
    let certificate: ClientCertificate.Loaded?
    /// Nil for cleartext.
    let tls: NIOSSLContext?
    /// SHA-256 of the file with the trusted certificates; nil where there is none.
    private let trust: [UInt8]?

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
        self.generation = generation
        let key = generation == 1 ? configuration.signingKey : try configuration.signingKey?.reloaded()
        tokens = key.map { configuration.tokens.source(for: $0) }
        do throws(TransportConfigurationError) {
            certificate = try configuration.clientCertificate?.load(at: configuration.clock.wall())
            // Before the context is made of it: what changes in between is then seen as changed.
            trust = try Self.digest(configuration)
            tls =
                configuration.endpoint.isCleartext
                ? nil
                : try ClientTLS.context(
                    trust: configuration.trust, protocols: ["h2"], identity: certificate?.identity,
                    verifiesHostName: configuration.verifiesHostName)
        } catch {
            throw APNsConfigurationError(error.message)
        }
        try checkEnvironment(configuration)
    }

    private static func digest(
        _ configuration: APNsConnector.Configuration
    ) throws(TransportConfigurationError) -> [UInt8]? {
        guard case .file(let path) = configuration.trust, !configuration.endpoint.isCleartext else { return nil }
        let bytes = try ConfigurationFile.read(path, as: "trusted certificate file")
        do throws(OpenSSLError) {
            return try SHA256.digest(bytes.span)
        } catch {
            throw TransportConfigurationError("\(error)")
        }
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

    /// For operators: what they are.
    func text(_ configuration: APNsConnector.Configuration) -> String {
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

    /// Why no connection can be made with them at this time; nil when it can.
    func problem(_ configuration: APNsConnector.Configuration) -> String? {
        guard let certificate, certificate.facts.notAfter < configuration.clock.wall().seconds,
            let named = configuration.clientCertificate?.named
        else { return nil }
        return
            "\(named) expired on \(ClientCertificate.text(certificate.facts.notAfter)): get a new one, and put it in "
            + "its place; it is taken up without a restart"
    }
}

extension APNsConnector.Configuration {
    /// The paths of all files that credentials and trust are read from.
    var credentialFiles: [String] {
        var files = (signingKey?.files ?? []) + (clientCertificate?.files ?? [])
        if case .file(let path) = trust, !endpoint.isCleartext { files.append(path) }
        return files
    }
}
