import NIOCore

/// A feedback service to test against, which behaves as Apple's did: whoever connects gets all tuples up to the end of the
/// stream, and with that they are gone from the service.
///
/// A server that was started must be stopped.
public final class MockFeedbackServer: Sendable {
    /// What a ``MockFeedbackServer`` has counted since it was started.
    public struct Counters: Sendable, Equatable {
        /// Tuples written to clients.
        public var served = 0
        /// Connections that were accepted, those that were refused included.
        public var connections = 0
        /// Connections that are open now.
        public var openConnections = 0
    }

    /// The port it listens on.
    public var port: Int { listener.port }
    /// `127.0.0.1:4567`.
    public var address: String { listener.address }
    /// Where its certificates and keys are, see ``MockBinaryConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients are to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The PEM file with a certificate that ``MockFeedbackConfiguration/requiresClientCertificate`` accepts.
    public var clientCertificateFile: String { home.file(MockCredentials.File.client) }
    /// The PEM file with its key.
    public var clientKeyFile: String { home.file(MockCredentials.File.clientKey) }

    private let service: MockFeedbackService
    private let home: MockHome
    private let listener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``MockAPNsError``, or the system's error, when the configuration makes no sense, the certificates cannot be
    ///   read or written, or the port cannot be had.
    public static func start(_ configuration: MockFeedbackConfiguration = .init()) async throws -> MockFeedbackServer {
        try configuration.check()
        let home = try MockHome(
            path: configuration.certificateDirectory, names: configuration.names, host: configuration.host)
        let service = MockFeedbackService(configuration)
        do {
            let tls =
                configuration.isCleartext
                ? nil
                : try home.credentials.tlsContext(
                    protocols: [], requiresClientCertificate: configuration.requiresClientCertificate)
            let listener = try await MockListener.start(
                host: configuration.host, port: configuration.port, threads: 1, tls: tls
            ) { _ in
                let wire = MockWire()
                return [wire, MockFeedbackConnection(service: service, wire: wire)]
            }
            return MockFeedbackServer(service, home, listener)
        } catch {
            try home.leave()
            throw error
        }
    }

    private init(_ service: MockFeedbackService, _ home: MockHome, _ listener: MockListener) {
        self.service = service
        self.home = home
        self.listener = listener
    }

    public var counters: Counters { service.state.withLock { $0.counters } }

    /// The tuples that nobody has read yet.
    public var remaining: [MockFeedbackTuple] { service.state.withLock { Array($0.tuples) } }

    /// Puts more tuples behind those that are there.
    ///
    /// - Throws: ``MockAPNsError`` for a token of more than 65535 bytes.
    public func add(_ tuples: [MockFeedbackTuple]) throws {
        try service.configuration.check(tuples)
        service.state.withLock { $0.tuples += tuples }
    }

    /// Changes how it departs from its normal ways, for connections from now on; nil for not at all.
    public func setBehavior(_ behavior: MockFeedbackBehavior?) {
        service.state.withLock { $0.behavior = behavior ?? .normal }
    }

    /// Stops: no new connections; those that are being served get until `limit`, those that are held open end at once.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        let isFirst = try await listener.stop(within: limit, farewell: MockBinaryCommand.drain) { channel in
            channel.pipeline.fireUserInboundEventTriggered(MockBinaryCommand.abort)
        }
        if isFirst { try home.leave() }
    }
}

/// What the connections of one ``MockFeedbackServer`` share.
final class MockFeedbackService: Sendable {
    struct State: Sendable {
        var tuples: ArraySlice<MockFeedbackTuple>
        var behavior: MockFeedbackBehavior
        var counters = MockFeedbackServer.Counters()

        /// Takes what one connection gets.
        mutating func take() -> ArraySlice<MockFeedbackTuple> {
            let taken = tuples.prefix(behavior.tupleLimit ?? .max)
            tuples = tuples.dropFirst(taken.count)
            counters.served += taken.count
            return taken
        }
    }

    let configuration: MockFeedbackConfiguration
    let state: Locked<State>

    init(_ configuration: MockFeedbackConfiguration) {
        self.configuration = configuration
        state = Locked(State(tuples: configuration.tuples[...], behavior: configuration.behavior ?? .normal))
    }
}
