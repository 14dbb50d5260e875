public import Holdfast
package import HoldfastTransport
internal import NIOCore

/// Sends over Apple's binary protocol, which Apple ended in March 2021 and other services still speak.
///
/// The service answers errors only, so its connections are ``Holdfast/CumulativeConnection``s: an error proves that everything
/// before it was taken and everything after it was not. A barrier makes the service answer where nothing is wrong.
public struct LegacyAPNsConnector: Connector, ExpiringConnector {
    /// The evidence that counts as a confirmation where there was no error. Closed: the protocol has no third kind of
    /// evidence.
    public enum Confirmation: Hashable, Sendable {
        /// Proof only: the answer to a barrier. Silence never confirms.
        case barrier
        /// Silence for this long after a notification has left this machine, and barriers where one is due.
        case quiet(Duration)
    }

    /// The connector's settings and named bounds.
    public struct Configuration: Sendable {
        /// The gateway to send to.
        public var endpoint: LegacyAPNsEndpoint
        /// The authorities that may have signed the service's certificate. Default: the system's.
        public var trust: TrustedCertificates
        /// The certificate that the service knows the sender by. Default: none.
        public var clientCertificate: ClientCertificate?
        /// The evidence that counts as a confirmation. Default: ``Confirmation/barrier``.
        public var confirmation = Confirmation.barrier
        /// The most bytes of a payload that `submit` takes: 1 to 2048; 256 for services from before 2014. Default:
        /// 2048.
        public var payloadLimit = 2048
        /// The timeout for resolving, connecting and TLS together. Default: 10 s.
        public var connectDeadline: Duration = .seconds(10)
        /// The idle timeout: a connection on which nothing was written for this long is not used again, because hosts
        /// on the way forget idle connections without notice. Checked once a second. Default: 110 s.
        public var idleLimit: Duration = .seconds(110)
        /// The write timeout: a service that has taken no byte for this long while some are waiting counts as dead.
        /// Checked once a second. Default: 30 s.
        public var writeDeadline: Duration = .seconds(30)
        /// The interval at which the files of the certificate and the trusted certificates are checked; changed files
        /// are read again. Nil: only by ``LegacyAPNsConnector/reload()``. Default: 10 s.
        public var reloadEvery: Duration? = .seconds(10)
        /// The clock that certificates' dates are compared with.
        var clock = EngineClock.system
        /// The wire identifier of each connection's first notification. For tests of the wrap-around.
        package var firstIdentifier: UInt32 = 1
        /// Listeners of this process, which are never connected to. For tests of both ends in one process.
        package var avoided = OwnListeners.shared

        /// Creates a configuration; every other setting starts at its default.
        public init(
            endpoint: LegacyAPNsEndpoint, trust: TrustedCertificates = .system,
            clientCertificate: ClientCertificate? = nil
        ) {
            self.endpoint = endpoint
            self.trust = trust
            self.clientCertificate = clientCertificate
        }
    }

    /// Cumulative, with the quiet period of ``Configuration/confirmation``.
    public let confirmationMode: ConfirmationMode
    /// The limits of the binary protocol, with ``Configuration/payloadLimit``.
    public let limits: NotificationLimits
    /// The endpoint as text, in the form that its ``LegacyAPNsEndpoint`` parses.
    public var endpoint: String { configuration.endpoint.description }

    let configuration: Configuration
    let vault: CredentialVault<TLSCredentials>

    /// Reads the certificates.
    ///
    /// - Throws: ``LegacyAPNsConfigurationError`` that names the file that is missing or invalid, or the setting that
    ///   is out of its range.
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

    /// The last valid second of the certificate in use; nil without one.
    package var certificateEnd: WallTime? {
        vault.current.contents.certificateEnd.map { WallTime(seconds: $0.notAfter) }
    }

    /// Starts checking the files at ``Configuration/reloadEvery``. Called by the engine.
    public func begin(_ host: ConnectorHost) { vault.begin(host) }

    /// Reads the files of the certificate and the trusted certificates again and uses them from now on: new connections
    /// are opened with them, open ones are drained, and notifications waiting for a connection do not wait any longer.
    /// Happens by itself when a file changes, see ``Configuration/reloadEvery``.
    ///
    /// - Throws: ``LegacyAPNsConfigurationError`` that names the file and the fault; the credentials in use then stay
    ///   in use.
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

    /// Opens a connection with the credentials in use. Called by the engine.
    ///
    /// - Throws: ``ConnectError`` that says at which stage it failed, and whether the configuration has to be mended.
    public func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        let current = vault.current
        if let problem = current.contents.problem(at: configuration.clock.wall()) {
            throw ConnectError(.configuration, problem)
        }
        let loop = Dialer.nextLoop()
        let connection = try await dialer(current.contents).connect(on: loop) {
            (channel, _, ready: EventLoopPromise<LegacyAPNsConnection>) in
            // Made for this address alone: another address may be tried after it.
            let connection = LegacyAPNsConnection(loop: loop)
            let counter = ReceivedByteCounter()
            let handler = LegacyAPNsHandler(
                configuration: configuration, connection: connection, sink: sink, received: counter, ready: ready)
            // Below TLS, because the kernel counts bytes there, too.
            try channel.pipeline.syncOperations.addHandler(counter, position: .first)
            try channel.pipeline.syncOperations.addHandler(handler)
            connection.inbox.bind(handler)
        }
        vault.adopt(connection, generation: current.generation)
        return connection
    }
}

extension LegacyAPNsConnector.Configuration {
    /// Reads the certificate and the trusted certificates. Cleartext needs neither.
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
