public import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL

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
    public let limits = NotificationLimits.http2
    public var endpoint: String { configuration.endpoint.description }

    let configuration: Configuration
    let tokens: ProviderTokenSource?
    let tls: NIOSSLContext?

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    public init(_ configuration: Configuration) throws(APNsConfigurationError) {
        self.configuration = configuration
        tokens = configuration.signingKey.map { ProviderTokenSource($0) }
        tls = configuration.endpoint.isCleartext ? nil : try Self.makeTLS(configuration)
    }

    private static func makeTLS(_ configuration: Configuration) throws(APNsConfigurationError) -> NIOSSLContext {
        do throws(TransportConfigurationError) {
            return try ClientTLS.context(
                trust: configuration.trust, protocols: ["h2"], identity: configuration.clientCertificate)
        } catch {
            throw APNsConfigurationError(error.message)
        }
    }

    private var dialer: Dialer {
        Dialer(
            endpoint: endpoint, host: configuration.endpoint.host, port: configuration.endpoint.port, tls: tls,
            trust: configuration.trust, deadline: configuration.connectDeadline)
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let loop = Dialer.nextLoop()
        let connection = APNsConnection(loop: loop)
        let capacity = try await dialer.connect(on: loop) { channel, ready in
            let handler = APNsHandler(
                configuration: configuration, tokens: tokens, connection: connection, sink: sink, ready: ready)
            try channel.pipeline.syncOperations.addHandler(handler)
            connection.inbox.bind(handler)
        }
        connection.setInitialCapacity(capacity)
        return connection
    }
}
