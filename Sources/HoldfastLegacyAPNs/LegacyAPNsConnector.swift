public import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL

/// Sends over Apple's binary protocol, to whoever still speaks it.
///
/// Only errors are answered, so its connections are ``CumulativeConnection``s: an error proves that everything before it
/// was taken and everything after it was not; a barrier makes the service answer when there is nothing wrong.
public struct LegacyAPNsConnector: Connector {
    /// What counts as a confirmation where there was no error.
    public enum Confirmation: Hashable, Sendable {
        /// Proof only: the answer to a barrier. Silence never counts.
        case barrier
        /// Silence for so long after a notification has left this machine; and barriers where one is due.
        case quiet(Duration)
    }

    /// The connector's settings and named bounds.
    public struct Configuration: Sendable {
        public var endpoint: LegacyAPNsEndpoint
        /// Default: the system's.
        public var trust: TrustedCertificates
        /// What the service knows us by. Default: none.
        public var clientCertificate: ClientCertificate?
        /// Default: ``Confirmation/barrier``.
        public var confirmation = Confirmation.barrier
        /// Bytes: what `submit` takes. 2048, or 256 for services that are older still; 1 to 2048. Default: 2048.
        public var payloadLimit = 2048
        /// The most that resolving, connecting and TLS may take together. Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// A connection on which nothing was written for this long is not used again: hosts on the way forget idle
        /// connections without a word. Checked once a second. Default: 110 s.
        public var idleLimit: Duration = .seconds(110)
        /// How long the service may take nothing of what has been written before it counts as dead. Checked once a
        /// second. Default: 30 s.
        public var writeDeadline: Duration = .seconds(30)
        /// The wire's name for the first notification of each connection. For tests of what happens at the wrap.
        package var firstIdentifier: UInt32 = 1

        public init(
            endpoint: LegacyAPNsEndpoint, trust: TrustedCertificates = .system,
            clientCertificate: ClientCertificate? = nil
        ) {
            self.endpoint = endpoint
            self.trust = trust
            self.clientCertificate = clientCertificate
        }
    }

    public let confirmationMode: ConfirmationMode
    public let limits: NotificationLimits
    public var endpoint: String { configuration.endpoint.description }

    let configuration: Configuration
    private let dialer: Dialer

    /// - Throws: ``LegacyAPNsConfigurationError`` that names the file that is missing, or is not what it should be, or the
    ///   bound that is none.
    public init(_ configuration: Configuration) throws(LegacyAPNsConfigurationError) {
        guard (1...2048).contains(configuration.payloadLimit) else {
            throw LegacyAPNsConfigurationError(
                "a payload limit of \(configuration.payloadLimit) bytes is not one from 1 to 2048")
        }
        self.configuration = configuration
        limits = NotificationLimits(
            payload: configuration.payloadLimit, voipPayload: configuration.payloadLimit, tokens: 32...32,
            collapseID: NotificationLimits.http2.collapseID)
        confirmationMode =
            switch configuration.confirmation {
            case .barrier: .cumulative(quietPeriod: nil)
            case .quiet(let period): .cumulative(quietPeriod: period)
            }
        let endpoint = configuration.endpoint
        dialer = Dialer(
            endpoint: endpoint.description, host: endpoint.host, port: endpoint.port,
            tls: endpoint.isCleartext ? nil : try Self.makeTLS(configuration), trust: configuration.trust,
            deadline: configuration.connectDeadline)
    }

    private static func makeTLS(_ configuration: Configuration) throws(LegacyAPNsConfigurationError) -> NIOSSLContext {
        do throws(TransportConfigurationError) {
            return try ClientTLS.context(
                trust: configuration.trust, identity: configuration.clientCertificate)
        } catch {
            throw LegacyAPNsConfigurationError(error.message)
        }
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let loop = Dialer.nextLoop()
        return try await dialer.connect(on: loop) { (channel, _, ready: EventLoopPromise<LegacyAPNsConnection>) in
            // Of this address's own: it may be followed by another.
            let connection = LegacyAPNsConnection(loop: loop)
            let opened = loop.makePromise(of: Void.self)
            opened.futureResult.map { connection }.cascade(to: ready)
            let counter = ReceivedByteCounter()
            let handler = LegacyAPNsHandler(
                configuration: configuration, connection: connection, sink: sink, received: counter, ready: opened)
            // Below TLS: the kernel counts what it receives, too.
            try channel.pipeline.syncOperations.addHandler(counter, position: .first)
            try channel.pipeline.syncOperations.addHandler(handler)
            connection.inbox.bind(handler)
        }
    }
}
