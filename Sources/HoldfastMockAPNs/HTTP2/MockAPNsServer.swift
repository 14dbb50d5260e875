import HoldfastOpenSSL
import NIOCore

/// A push service to test against, which behaves as Apple's does over HTTP/2.
///
/// It validates requests as Apple documents it and refuses them in the same words; it can write down what it accepted
/// (``MockAPNsConfiguration/ledgerPath``), and misbehave (``MockScript``, ``MockBehavior``).
///
/// Clients trust it by the certificate in ``certificateAuthorityFile``. A server that was started must be stopped.
public final class MockAPNsServer: Sendable {
    /// The port it listens on.
    public var port: Int { listener.port }
    /// `127.0.0.1:4567`, to put into a URL.
    public var address: String { listener.address }
    /// All that it takes notifications on: ``address`` and ``MockAPNsConfiguration/furtherAddresses``.
    public var addresses: [MockAddress] { listener.addresses.filter { !$0.isManagement } }
    /// Where channels are managed, see ``MockAPNsConfiguration/managementPort``.
    public var managementAddress: MockAddress? { listener.addresses.first { $0.isManagement } }
    /// Where its certificates and keys are, see ``MockAPNsConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients are to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The `.p8` file with the key that provider tokens are to be signed with.
    public var providerKeyFile: String { home.file(MockCredentials.File.providerKey) }

    private let service: MockService
    private let home: MockHome
    private let listener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``MockAPNsError``, or the system's error, when the configuration makes no sense, the certificates or the
    ///   ledger cannot be read or written, or the port cannot be had.
    public static func start(_ configuration: MockAPNsConfiguration = .init()) async throws -> MockAPNsServer {
        try configuration.check()
        let home = try MockHome(
            path: configuration.certificateDirectory,
            names: try configuration.names
                + configuration.hosts().dropFirst().map(\.host).filter { !configuration.names.contains($0) },
            host: configuration.host)
        let ledger = try configuration.ledgerPath.map(Ledger.init)
        let service = MockService(configuration, providerKey: home.credentials.providerKey.publicKey, ledger: ledger)
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
    /// What it has counted. Requests are counted before their answers go out.
    public var counters: MockCounters { service.counters.withLock { $0 } }

    /// The broadcast channels there are now, by app and id.
    public var channels: [MockChannel] { service.channels.all }

    /// Changes how it departs from its normal ways, for what arrives from now on; nil for not at all.
    public func setBehavior(_ behavior: MockBehavior?) {
        service.manners.withLock { $0.behavior = behavior }
    }

    /// Begins another script, for what arrives from now on, counting from 1 again; nil for none.
    public func setScript(_ script: MockScript?) {
        service.manners.withLock { $0.script = script.map(ScriptRunner.init) }
    }

    /// How often each step of the script has decided something, in the order of the steps.
    public var scriptCounts: [(name: String, count: Int)] {
        service.manners.withLock { $0.script }?.counts ?? []
    }

    /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS on the connections that are open. More streams than that are
    /// refused from now on.
    public func setMaxConcurrentStreams(_ count: Int) {
        listener.tell(MockCommand.setMaxConcurrentStreams(max(0, count)))
    }

    /// Sends GOAWAY on all connections that are open, answers what came before it, and closes them.
    public func goAway(_ goAway: MockGoAway = MockGoAway()) {
        listener.tell(MockCommand.drain(goAway))
    }

    /// Closes all connections that are open at once, whatever is under way on them.
    public func closeConnections() {
        listener.inTurn { channel in channel.close(promise: nil) }
    }

    /// A new provider token as ``MockAPNsConfiguration/ProviderTokens/verified`` wants it, to be sent behind `bearer `.
    ///
    /// - Parameter issuedAt: Unix seconds. Default: now.
    public func makeProviderToken(issuedAt: Int64? = nil) throws -> String {
        try ProviderToken.make(
            keyID: service.configuration.keyID, teamID: service.configuration.teamID,
            issuedAt: issuedAt ?? MockService.milliseconds() / 1000, key: home.credentials.providerKey)
    }

    /// Stops gracefully: no new connections; GOAWAY on those that are open, answers for what came before it, close.
    ///
    /// When it returns, the ledger is on disk and complete. A second call does nothing, and does not wait for the first.
    ///
    /// - Parameter limit: after this the connections are closed, whatever is under way on them.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        guard try await listener.stop(within: limit, farewell: MockCommand.drain(MockGoAway())) else { return }
        try service.ledger?.close()
        try home.leave()
    }
}

extension MockAPNsConfiguration {
    fileprivate func check() throws {
        for port in [port, managementPort ?? 0] {
            guard (0...65535).contains(port) else { throw MockAPNsError("\(port) is not a port") }
        }
        guard channelLimit >= 0 else { throw MockAPNsError("a limit cannot be negative") }
        guard channels.allSatisfy({ MockChannel.isID($0.id) }) else {
            throw MockAPNsError("a channel's id is base64, of \(MockChannel.idLimit) characters at most")
        }
        guard eventLoopThreads >= 1 else { throw MockAPNsError("at least one event loop thread is needed") }
        guard maxConcurrentStreams >= 1 else { throw MockAPNsError("at least one stream at a time is needed") }
        guard tokenByteCounts.lowerBound >= 1, tokenByteCounts.upperBound <= 1024 else {
            throw MockAPNsError("a device token has 1 to 1024 bytes")
        }
        guard delay >= .zero else { throw MockAPNsError("a delay cannot be negative") }
        _ = try hosts()
    }

    /// All that is to be listened on.
    fileprivate func hosts() throws -> [MockListener.Host] {
        let management = managementPort.map { [MockListener.Host(host: host, port: $0, isManagement: true)] } ?? []
        return try [MockListener.Host(host: host, port: port)] + management
            + furtherAddresses.map { text in
                guard let (host, port) = MockAddress.parse(text), (0...65535).contains(port ?? 0) else {
                    throw MockAPNsError("\(text) is not HOST or HOST:PORT")
                }
                return MockListener.Host(host: host, port: port)
            }
    }
}
