internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastLegacyAPNs

/// One route: what is sent where, as whom, and how fast. Flags, the configuration and a journal's memory all say this.
struct RouteSettings: Equatable, Sendable {
    enum WireProtocol { case http2, binary }

    /// What confirms on the binary protocol where no error comes.
    enum Confirmation: String, Codable, CaseIterable, Sendable { case barrier, quiet }

    /// What provider tokens are signed with. The key itself is never kept.
    struct SigningKey: Equatable, Sendable {
        /// Absolute, as all paths here. Nil where ``pem`` stands in its place.
        var file: String?
        /// The key itself. Never in a note or a listing.
        var pem: String?
        var keyID: String
        var teamID: String
    }

    /// What the service knows us by.
    struct Certificate: Equatable, Sendable {
        /// Nil where ``pem`` stands in its place.
        var file: String?
        /// The certificate and its key themselves. Never in a note or a listing.
        var pem: String?
        /// Nil for the file of the certificate.
        var key: String?
        /// Itself. Never in a note or a listing.
        var passphrase: String?
        var passphraseFile: String?
    }

    static let standardName = "default"
    static let connectionCounts = 1...1000
    static let defaultReloadEvery: Duration = .seconds(10)
    static let defaultQuietPeriod: Duration = .seconds(5)

    var name = Self.standardName
    var endpoint: String
    /// Where the broadcast channels of its apps are managed; nil for Apple's place for them.
    var channelsEndpoint: String?
    /// Nil for all that no other route serves.
    var topics: Set<String>?
    /// The topic of lines that have none.
    var defaultTopic: String?
    /// A PEM file; nil trusts what the system trusts.
    var trust: String?
    var network = NetworkSettings()
    var signingKey: SigningKey?
    var certificate: Certificate?
    /// How often the files of those and of ``trust`` are looked at; nothing for never.
    var reloadEvery = Self.defaultReloadEvery
    /// The most at a time; nil for as many as suit the protocol.
    var connections: Int?
    var scaling = ConnectionScaling()
    /// Nil for as many as the service takes.
    var rate: RateLimit?
    var confirmation = Confirmation.barrier
    /// With ``Confirmation/quiet``; nil for ``defaultQuietPeriod``.
    var quietPeriod: Duration?
    /// Nil when none is read.
    var feedback: FeedbackSettings?

    init(endpoint: String) { self.endpoint = endpoint }

    static func isBinary(_ endpoint: String) -> Bool {
        endpoint.hasPrefix("binary+tls://") || endpoint.hasPrefix("binary://")
    }

    static func isPKCS12(_ path: String) -> Bool {
        [".p12", ".pfx"].contains { path.lowercased().hasSuffix($0) }
    }

    var `protocol`: WireProtocol { Self.isBinary(endpoint) ? .binary : .http2 }

    /// From now on there. What was said for the other protocol means nothing here.
    mutating func moves(to endpoint: String) {
        let before = self.protocol
        self.endpoint = endpoint
        guard self.protocol != before else { return }
        (signingKey, certificate) = (nil, nil)
        (confirmation, quietPeriod) = (.barrier, nil)
    }
}

// MARK: What sends

extension RouteSettings {
    /// A route of the engine's.
    ///
    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    func route() throws(ToolError) -> Route {
        Route(
            name: name, connector: try connector(), topics: topics, connections: connections, scaling: scaling,
            rate: rate)
    }

    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    func connector() throws(ToolError) -> any Connector {
        switch self.protocol {
        case .http2: try http2Connector()
        case .binary: try binaryConnector()
        }
    }

    var trusted: TrustedCertificates { trust.map { .file($0) } ?? .system }

    private func http2Connector() throws(ToolError) -> APNsConnector {
        let configuration = try http2Configuration()
        do throws(APNsConfigurationError) {
            return try APNsConnector(configuration)
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }

    /// What a connector over HTTP/2 is given.
    func http2Configuration() throws(ToolError) -> APNsConnector.Configuration {
        do throws(APNsConfigurationError) {
            let key = try signingKey.map { key throws(APNsConfigurationError) in
                try APNsSigningKey(key.source, keyID: key.keyID, teamID: key.teamID)
            }
            var configuration = APNsConnector.Configuration(
                endpoint: try APNsEndpoint(endpoint), trust: trusted, signingKey: key,
                clientCertificate: certificate?.identity)
            network.apply(to: &configuration)
            configuration.reloadEvery = reloadEvery > .zero ? reloadEvery : nil
            return configuration
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }

    private func binaryConnector() throws(ToolError) -> LegacyAPNsConnector {
        let certificate = certificate?.identity
        do throws(LegacyAPNsConfigurationError) {
            var configuration = LegacyAPNsConnector.Configuration(
                endpoint: try LegacyAPNsEndpoint(endpoint), trust: trusted, clientCertificate: certificate)
            configuration.confirmation =
                confirmation == .quiet ? .quiet(quietPeriod ?? Self.defaultQuietPeriod) : .barrier
            configuration.reloadEvery = reloadEvery > .zero ? reloadEvery : nil
            return try LegacyAPNsConnector(configuration)
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}

extension RouteSettings.SigningKey {
    var source: CredentialSource { pem.map { .pem($0) } ?? .file(file ?? "") }
}

extension RouteSettings.Certificate {
    /// What the connectors read.
    var identity: ClientCertificate {
        let phrase: Passphrase? = passphrase.map { .text($0) } ?? passphraseFile.map { .file($0) }
        if let pem { return .pem(certificates: .pem(pem), key: .pem(pem), passphrase: phrase) }
        let file = file ?? ""
        return RouteSettings.isPKCS12(file)
            ? .pkcs12(.file(file), passphrase: phrase)
            : .pem(certificates: .file(file), key: .file(key ?? file), passphrase: phrase)
    }
}
