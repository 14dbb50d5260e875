public import Holdfast
internal import HoldfastTransport
internal import NIOCore

/// Sends to Apple's push service over HTTP/2.
public struct APNsConnector: Connector {
    /// Which certificates the service's own must be signed by.
    public typealias Trust = TrustedCertificates

    /// The connector's settings and named bounds.
    public struct Configuration: Sendable {
        public var endpoint: APNsEndpoint
        public var trust: Trust
        /// Nil sends no provider token.
        public var signingKey: APNsSigningKey?
        /// What Apple knows us by instead of provider tokens. Default: none.
        public var clientCertificate: ClientCertificate?
        /// The most a request may take from being written to its answer; then its outcome is unknown. Checked once a
        /// second. Default: 30 s.
        public var sendDeadline: Duration = .seconds(30)
        /// The most that resolving, connecting, TLS and the first SETTINGS may take together. Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// A connection on which nothing has arrived for this long is asked for a sign of life (PING). Default: 20 s.
        public var pingAfter: Duration = .seconds(20)
        /// How long that sign of life may take before the connection counts as dead. Default: 10 s.
        public var pingDeadline: Duration = .seconds(10)
        /// The most requests at a time on a connection, whatever more the service allows. Default: 1000.
        public var maximumStreams = 1000
        /// How often the files of credentials and trusted certificates are looked at, and read when they have changed. Nil:
        /// only by ``APNsConnector/reload()``. Default: 10 s.
        public var reloadEvery: Duration? = .seconds(10)
        /// Where provider tokens are shared.
        var tokens = ProviderTokenRegistry.shared
        /// What certificates' dates are compared with.
        var clock = EngineClock.system

        public init(
            endpoint: APNsEndpoint, trust: Trust = .system, signingKey: APNsSigningKey? = nil,
            clientCertificate: ClientCertificate? = nil
        ) {
            self.endpoint = endpoint
            self.trust = trust
            self.signingKey = signingKey
            self.clientCertificate = clientCertificate
        }
    }

    public let confirmationMode = ConfirmationMode.perNotification
    public var endpoint: String { configuration.endpoint.description }

    let configuration: Configuration
    let vault: CredentialVault

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    public init(_ configuration: Configuration) throws(APNsConfigurationError) {
        self.configuration = configuration
        vault = try CredentialVault(configuration)
    }

    /// Apple's; with a client certificate, only the topics that it is good for.
    public var limits: NotificationLimits {
        var limits = NotificationLimits.http2
        limits.topics = vault.current.topics
        return limits
    }

    public func begin(_ host: ConnectorHost) { vault.begin(host) }

    /// Reads the files of credentials and trusted certificates anew and uses them from now on: new connections are opened
    /// with them, open ones are drained, and lanes that were stopped for the old ones run again. Happens by itself when a
    /// file changes, see ``Configuration/reloadEvery``.
    ///
    /// - Throws: ``APNsConfigurationError`` that names the file and what is wrong; then what was in use stays in use.
    public func reload() async throws(APNsConfigurationError) { try await vault.reload() }

    private func dialer(_ credentials: Credentials) -> Dialer {
        Dialer(
            endpoint: endpoint, host: configuration.endpoint.host, port: configuration.endpoint.port,
            tls: credentials.tls, trust: configuration.trust, deadline: configuration.connectDeadline)
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let credentials = vault.current
        if let problem = credentials.problem(configuration) { throw ConnectError(.configuration, problem) }
        let loop = Dialer.nextLoop()
        let connection = APNsConnection(loop: loop)
        let capacity = try await dialer(credentials).connect(on: loop) { channel, ready in
            let handler = APNsHandler(
                configuration: configuration, tokens: credentials.tokens, connection: connection, sink: sink,
                ready: ready)
            try channel.pipeline.syncOperations.addHandler(handler)
            connection.inbox.bind(handler)
        }
        connection.setInitialCapacity(capacity)
        vault.adopt(connection, generation: credentials.generation)
        return connection
    }
}
