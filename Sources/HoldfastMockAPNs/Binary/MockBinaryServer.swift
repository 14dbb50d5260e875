import HoldfastMocking
import NIOCore

/// A push service to test against, which behaves as Apple's did over the binary protocol until March 2021.
///
/// It takes valid notifications in silence. At the first invalid one it writes an error response, throws away
/// everything behind it and closes the connection. It can record the notifications taken
/// (``MockBinaryConfiguration/ledgerPath``), and misbehave (``MockBinaryBehavior``).
///
/// | it refuses | with |
/// |---|---|
/// | no token, or an empty one | 2 |
/// | no payload, or an empty one | 4 |
/// | a token that does not have 32 bytes | 5 |
/// | a payload beyond ``MockBinaryConfiguration/payloadLimit`` | 7 |
/// | a token of ``MockBinaryConfiguration/rejections`` | its status there |
/// | an item of command 2 that is unknown, there twice, or of a wrong size | 128 |
/// | a command other than 0, 1 and 2 | 1 |
///
/// Items of command 2 may come in any order; identifier, expiration and priority may be missing. Without an identifier,
/// as in command 0, an error names 0.
///
/// Clients trust it by the certificate in ``certificateAuthorityFile``. A server that was started must be stopped.
public final class MockBinaryServer: Sendable {
    /// The listening port.
    public var port: Int { listener.port }
    /// The listening address, as in `127.0.0.1:4567`.
    public var address: String { listener.address }
    /// The directory of its certificates and keys, see ``MockBinaryConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients have to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The PEM file with a certificate that ``MockBinaryConfiguration/requiresClientCertificate`` accepts.
    public var clientCertificateFile: String { home.file(MockCredentials.File.client) }
    /// The PEM file with the key of ``clientCertificateFile``.
    public var clientKeyFile: String { home.file(MockCredentials.File.clientKey) }

    private let service: MockBinaryService
    private let home: MockHome
    private let listener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``HoldfastMocking/MockError``, or the system's error, when the configuration is invalid, the certificates or the
    ///   ledger cannot be read or written, or the port is not available.
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
    /// The counters. Notifications are counted before an error response about them or later ones goes out.
    public var counters: MockBinaryCounters { service.counters.withLock { $0 } }

    /// Sets the departure from normal handling for all further events; nil for none.
    public func setBehavior(_ behavior: MockBinaryBehavior?) {
        service.behavior.withLock { $0 = behavior }
    }

    /// Shuts down all open connections: sends status 10 with the last identifier taken (0 where there is none), and
    /// closes.
    public func shutDownConnections() { listener.tell(MockBinaryCommand.drain) }

    /// Resets all open connections at once, whatever is under way on them.
    public func closeConnections() { listener.tell(MockBinaryCommand.abort) }

    /// Stops gracefully: accepts no new connections, and calls ``shutDownConnections()``.
    ///
    /// The ledger is complete and on disk on return. A second call does nothing, and does not wait for the first.
    ///
    /// - Parameter limit: the timeout after which connections are reset, whatever is under way on them. Default: 5 s.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        let isFirst = try await listener.stop(within: limit, farewell: MockBinaryCommand.drain) { channel in
            channel.pipeline.fireUserInboundEventTriggered(MockBinaryCommand.abort)
        }
        guard isFirst else { return }
        try service.ledger?.close()
        try home.leave()
    }
}
