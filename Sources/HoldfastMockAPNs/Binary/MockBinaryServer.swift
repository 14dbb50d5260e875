import NIOCore

/// A push service to test against, which behaves as Apple's did over the binary protocol until March 2021.
///
/// It takes what is in order without a word. At the first notification that is not, it writes an error response, throws away
/// everything behind it and closes the connection. It can write down what it took
/// (``MockBinaryConfiguration/ledgerPath``), and misbehave (``MockBinaryBehavior``).
///
/// | it refuses | with |
/// |---|---|
/// | no token, or an empty one | 2 |
/// | no payload, or an empty one | 4 |
/// | a token that does not have 32 bytes | 5 |
/// | a payload beyond ``MockBinaryConfiguration/payloadLimit`` | 7 |
/// | a token of ``MockBinaryConfiguration/rejections`` | what stands there |
/// | an item of command 2 that is unknown, there twice, or of a wrong size | 128 |
/// | a command other than 0, 1 and 2 | 1 |
///
/// Items of command 2 may come in any order; identifier, expiration and priority may be missing. Where there is no
/// identifier, as in command 0, an error names 0.
///
/// Clients trust it by the certificate in ``certificateAuthorityFile``. A server that was started must be stopped.
public final class MockBinaryServer: Sendable {
    /// The port it listens on.
    public var port: Int { listener.port }
    /// `127.0.0.1:4567`.
    public var address: String { listener.address }
    /// Where its certificates and keys are, see ``MockBinaryConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients are to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The PEM file with a certificate that ``MockBinaryConfiguration/requiresClientCertificate`` accepts.
    public var clientCertificateFile: String { home.file(MockCredentials.File.client) }
    /// The PEM file with its key.
    public var clientKeyFile: String { home.file(MockCredentials.File.clientKey) }

    private let service: MockBinaryService
    private let home: MockHome
    private let listener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``MockAPNsError``, or the system's error, when the configuration makes no sense, the certificates or the
    ///   ledger cannot be read or written, or the port cannot be had.
    public static func start(_ configuration: MockBinaryConfiguration = .init()) async throws -> MockBinaryServer {
        try configuration.check()
        let home = try MockHome(
            path: configuration.certificateDirectory, names: configuration.names, host: configuration.host)
        let ledger = try configuration.ledgerPath.map(Ledger.init)
        let service = MockBinaryService(configuration, ledger: ledger)
        do {
            let tls =
                configuration.isCleartext
                ? nil
                : try home.credentials.tlsContext(
                    protocols: [], requiresClientCertificate: configuration.requiresClientCertificate)
            let listener = try await MockListener.start(
                host: configuration.host, port: configuration.port, threads: configuration.eventLoopThreads,
                receiveBuffer: configuration.receiveBufferByteCount, tls: tls
            ) { number in
                let wire = MockWire()
                return [wire, MockBinaryConnection(service: service, number: number, wire: wire)]
            }
            return MockBinaryServer(service, home, listener)
        } catch {
            try ledger?.close()
            try home.leave()
            throw error
        }
    }

    private init(_ service: MockBinaryService, _ home: MockHome, _ listener: MockListener) {
        self.service = service
        self.home = home
        self.listener = listener
    }
}

extension MockBinaryServer {
    /// What it has counted. Notifications are counted before an error response that is about them or later ones goes out.
    public var counters: MockBinaryCounters { service.counters.withLock { $0 } }

    /// Changes how it departs from its normal ways, for what arrives from now on; nil for not at all.
    public func setBehavior(_ behavior: MockBinaryBehavior?) {
        service.behavior.withLock { $0 = behavior }
    }

    /// Says goodbye on all connections that are open, with status 10 and the last identifier that was taken (0 where there
    /// is none), and closes them.
    public func shutDownConnections() { listener.tell(MockBinaryCommand.drain) }

    /// Resets all connections that are open at once, whatever is under way on them.
    public func closeConnections() { listener.tell(MockBinaryCommand.abort) }

    /// Stops gracefully: no new connections; ``shutDownConnections()``.
    ///
    /// When it returns, the ledger is on disk and complete. A second call does nothing, and does not wait for the first.
    ///
    /// - Parameter limit: after this the connections are reset, whatever is under way on them.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        let isFirst = try await listener.stop(within: limit, farewell: MockBinaryCommand.drain) { channel in
            channel.pipeline.fireUserInboundEventTriggered(MockBinaryCommand.abort)
        }
        guard isFirst else { return }
        try service.ledger?.close()
        try home.leave()
    }
}
