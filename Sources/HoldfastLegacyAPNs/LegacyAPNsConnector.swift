public import Holdfast
package import HoldfastTransport
internal import NIOCore

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
        /// How often the files of the certificate and the trusted certificates are looked at, and read when they have
        /// changed. Nil: only by ``LegacyAPNsConnector/reload()``. Default: 10 s.
        public var reloadEvery: Duration? = .seconds(10)
        /// What certificates' dates are compared with.
        var clock = EngineClock.system
        /// The wire's name for the first notification of each connection. For tests of what happens at the wrap.
        package var firstIdentifier: UInt32 = 1
        /// Listeners that are not connected to: this process's own. For tests of both ends in one process.
        package var avoided = OwnListeners.shared

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
    let vault: CredentialVault<TLSCredentials>

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
        do throws(TransportConfigurationError) {
            vault = try CredentialVault(
                files: configuration.credentialFiles, reloadEvery: configuration.reloadEvery,
                clock: configuration.clock,
                read: { (_) throws(TransportConfigurationError) in try configuration.credentials() })
        } catch {
            throw LegacyAPNsConfigurationError(error.message)
        }
    }

    public func begin(_ host: ConnectorHost) { vault.begin(host) }

    /// Reads the files of the certificate and the trusted certificates anew and uses them from now on: new connections are
    /// opened with them, open ones are drained, and what waits for a connection does not wait any longer. Happens by itself
    /// when a file changes, see ``Configuration/reloadEvery``.
    ///
    /// - Throws: ``LegacyAPNsConfigurationError`` that names the file and what is wrong; then what was in use stays in use.
    public func reload() async throws(LegacyAPNsConfigurationError) {
        do throws(TransportConfigurationError) {
            try await vault.reload()
        } catch {
            throw LegacyAPNsConfigurationError(error.message)
        }
    }

    private func dialer(_ credentials: TLSCredentials) -> Dialer {
        let endpoint = configuration.endpoint
        var dialer = Dialer(
            endpoint: endpoint.description, host: endpoint.host, port: endpoint.port, tls: credentials.tls,
            trust: configuration.trust, deadline: configuration.connectDeadline)
        dialer.avoided = configuration.avoided
        return dialer
    }

    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let current = vault.current
        if let problem = current.contents.problem(at: configuration.clock.wall()) {
            throw ConnectError(.configuration, problem)
        }
        let loop = Dialer.nextLoop()
        let connection = try await dialer(current.contents).connect(on: loop) {
            (channel, _, ready: EventLoopPromise<LegacyAPNsConnection>) in
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
        vault.adopt(connection, generation: current.generation)
        return connection
    }
}

extension LegacyAPNsConnector.Configuration {
    /// Reads what it appears with and whom it trusts. In the clear there is nothing to read.
    fileprivate func credentials() throws(TransportConfigurationError) -> TLSCredentials {
        let isCleartext = endpoint.isCleartext
        return try TLSCredentials(
            certificate: isCleartext ? nil : clientCertificate, trust: isCleartext ? nil : trust, now: clock.wall())
    }

    /// The paths of all files that they are read from.
    fileprivate var credentialFiles: [String] {
        endpoint.isCleartext ? [] : (clientCertificate?.files ?? []) + [trust.file].compactMap(\.self)
    }
}
