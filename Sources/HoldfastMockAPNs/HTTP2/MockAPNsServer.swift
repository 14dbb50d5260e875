public import HoldfastMocking
import HoldfastOpenSSL
import NIOCore

/// A push service to test against, which behaves as Apple's does over HTTP/2.
///
/// It validates requests as Apple documents, and refuses them in Apple's words. It can record the notifications
/// accepted (``MockAPNsConfiguration/ledgerPath``), and misbehave (``HoldfastMocking/MockScript``, ``HoldfastMocking/MockBehavior``).
///
/// Clients trust it by the certificate in ``certificateAuthorityFile``. A server that was started must be stopped.
public final class MockAPNsServer: Sendable {
    /// The listening port.
    public var port: Int { listener.port }
    /// The listening address, to put into a URL: `127.0.0.1:4567`.
    public var address: String { listener.address }
    /// All addresses that take notifications: ``address`` and ``MockAPNsConfiguration/furtherAddresses``.
    public var addresses: [MockAddress] { listener.addresses.filter { !$0.isManagement } }
    /// The address of the channel management, see ``MockAPNsConfiguration/managementPort``; nil without one.
    public var managementAddress: MockAddress? { listener.addresses.first { $0.isManagement } }
    /// The directory of its certificates and keys, see ``MockAPNsConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients have to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The `.p8` file with the key that signs provider tokens.
    public var providerKeyFile: String { home.file(MockHome.providerKeyFile) }

    private let service: MockService
    private let home: MockHome
    private let listener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``HoldfastMocking/MockError``, or the system's error, when the configuration is invalid, the certificates or the
    ///   ledger cannot be read or written, or the port is not available.
    public static func start(_ configuration: MockAPNsConfiguration = .init()) async throws -> MockAPNsServer {
        try configuration.check()
        let home = try MockHome(
            path: configuration.certificateDirectory,
            names: try configuration.names
                + configuration.hosts().dropFirst().map(\.host).filter { !configuration.names.contains($0) },
            host: configuration.host)
        let ledger = try configuration.ledgerPath.map(Ledger.init)
        let providerKey = try home.providerKey()
        let service = MockService(configuration, providerKey: providerKey.publicKey, ledger: ledger)
        do {
            let tls =
                configuration.isCleartext
                ? nil
                : try MockTLSContexts(
                    home.credentials, requiresClientCertificate: configuration.requiresClientCertificate,
                    isLimitedToTLS12: configuration.isLimitedToTLS12)
            let listener = try await MockListener.start(
                hosts: try configuration.hosts(), threads: configuration.eventLoopThreads
            ) { number, address in
                try service.receive(number, address, tls)
            }
            return MockAPNsServer(service, home, listener)
        } catch {
            try ledger?.close()
            try home.leave()
            throw error
        }
    }

    private init(_ service: MockService, _ home: MockHome, _ listener: MockListener) {
        self.service = service
        self.home = home
        self.listener = listener
    }
}

extension MockAPNsServer {
    /// The counters. Requests are counted before their answers go out.
    public var counters: MockCounters { service.counters.withLock { $0 } }

    /// The broadcast channels now, by app and id.
    public var channels: [MockChannel] { service.channels.all }

    /// Sets the departure from normal handling for all further requests; nil for none.
    public func setBehavior(_ behavior: MockBehavior?) {
        service.overrides.set(behavior: behavior)
    }

    /// Starts another script for all further events, counting from 1 again; nil for none.
    public func setScript(_ script: MockScript?) {
        service.overrides.set(script: script)
    }

    /// The number of decisions of each step of the script, in the order of the steps.
    public var scriptCounts: [(name: String, count: Int)] {
        service.overrides.scriptCounts
    }

    /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS on the open connections. Streams beyond it are refused from
    /// now on.
    public func setMaxConcurrentStreams(_ count: Int) {
        listener.tell(MockCommand.setMaxConcurrentStreams(max(0, count)))
    }

    /// Sends GOAWAY on all open connections, answers the requests before it, and closes them.
    public func goAway(_ goAway: MockGoAway = MockGoAway()) {
        listener.tell(MockCommand.drain(goAway))
    }

    /// Closes all open connections at once, whatever is under way on them.
    public func closeConnections() {
        listener.inTurn { channel in channel.close(promise: nil) }
    }

    /// Creates a provider token that ``MockAPNsConfiguration/ProviderTokens/verified`` accepts, to be sent behind
    /// `bearer `.
    ///
    /// - Parameter issuedAt: Unix seconds. Default: now.
    public func makeProviderToken(issuedAt: Int64? = nil) throws -> String {
        try ProviderToken.make(
            keyID: service.configuration.keyID, teamID: service.configuration.teamID,
            issuedAt: issuedAt ?? MockService.milliseconds() / 1000, key: home.providerKey())
    }

    /// Stops gracefully: accepts no new connections, sends GOAWAY on the open ones, answers the requests before it, and
    /// closes.
    ///
    /// The ledger is complete and on disk on return. A second call does nothing, and does not wait for the first.
    ///
    /// - Parameter limit: the timeout after which connections are closed, whatever is under way on them. Default: 5
    ///   s.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        guard try await listener.stop(within: limit, farewell: MockCommand.drain(MockGoAway())) else { return }
        try service.ledger?.close()
        try home.leave()
    }
}

extension MockAPNsConfiguration {
    fileprivate func check() throws {
        for port in [port, managementPort ?? 0] {
            guard (0...65535).contains(port) else { throw MockError("\(port) is not a port") }
        }
        guard channelLimit >= 0 else { throw MockError("a limit cannot be negative") }
        guard channels.allSatisfy({ MockChannel.isID($0.id) }) else {
            throw MockError("a channel's id is base64, of \(MockChannel.idLimit) characters at most")
        }
        guard eventLoopThreads >= 1 else { throw MockError("at least one event loop thread is needed") }
        guard maxConcurrentStreams >= 1 else { throw MockError("at least one stream at a time is needed") }
        guard tokenByteCounts.lowerBound >= 1, tokenByteCounts.upperBound <= 1024 else {
            throw MockError("a device token has 1 to 1024 bytes")
        }
        guard delay >= .zero else { throw MockError("a delay cannot be negative") }
        _ = try hosts()
    }

    /// All addresses to listen on.
    fileprivate func hosts() throws -> [MockListener.Host] {
        let management = managementPort.map { [MockListener.Host(host: host, port: $0, isManagement: true)] } ?? []
        return try [MockListener.Host(host: host, port: port)] + management
            + furtherAddresses.map { text in
                guard let (host, port) = MockAddress.parse(text), (0...65535).contains(port ?? 0) else {
                    throw MockError("\(text) is not HOST or HOST:PORT")
                }
                return MockListener.Host(host: host, port: port)
            }
    }
}
