import HoldfastMocking
import NIOCore

/// A feedback service to test against, which behaves as Apple's did: a client that connects gets all tuples and then
/// the end of the stream, and the service forgets the tuples.
///
/// A server that was started must be stopped.
public final class MockFeedbackServer: Sendable {
    /// The counters of a ``MockFeedbackServer`` since its start.
    public struct Counters: Sendable, Equatable {
        /// Tuples written to clients.
        public var served = 0
        /// Connections accepted, refused ones included.
        public var connections = 0
        /// Connections that are open now.
        public var openConnections = 0
    }

    /// The listening port.
    public var port: Int { listener.port }
    /// The listening address, as in `127.0.0.1:4567`.
    public var address: String { listener.address }
    /// The directory of its certificates and keys, see ``MockBinaryConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients have to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The PEM file with a certificate that ``MockFeedbackConfiguration/requiresClientCertificate`` accepts.
    public var clientCertificateFile: String { home.file(MockCredentials.File.client) }
    /// The PEM file with the key of ``clientCertificateFile``.
    public var clientKeyFile: String { home.file(MockCredentials.File.clientKey) }

    private let service: MockFeedbackService
    private let home: MockHome
    private let listener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``HoldfastMocking/MockError``, or the system's error, when the configuration is invalid, the certificates cannot
    ///   be read or written, or the port is not available.
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

    /// The counters now.
    public var counters: Counters { service.state.withLock { $0.counters } }

    /// The tuples that no client has read yet.
    public var remaining: [MockFeedbackTuple] { service.state.withLock { Array($0.tuples) } }

    /// Appends tuples to the list.
    ///
    /// - Throws: ``HoldfastMocking/MockError`` for a token of more than 65535 bytes.
    public func add(_ tuples: [MockFeedbackTuple]) throws {
        try service.configuration.check(tuples)
        service.state.withLock { $0.tuples += tuples }
    }

    /// Sets the departure from normal handling for further connections; nil for none.
    public func setBehavior(_ behavior: MockFeedbackBehavior?) {
        service.state.withLock { $0.behavior = behavior ?? .normal }
    }

    /// Stops: accepts no new connections, gives those being served until `limit`, and ends idle ones at once. A second
    /// call does nothing.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        let isFirst = try await listener.stop(within: limit, farewell: MockBinaryCommand.drain) { channel in
            channel.pipeline.fireUserInboundEventTriggered(MockBinaryCommand.abort)
        }
        if isFirst { try home.leave() }
    }
}

/// The state that the connections of one ``MockFeedbackServer`` share.
final class MockFeedbackService: Sendable {
    struct State: Sendable {
        var tuples: ArraySlice<MockFeedbackTuple>
        var behavior: MockFeedbackBehavior
        var counters = MockFeedbackServer.Counters()

        /// Takes the tuples for one connection.
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
