public import HoldfastMocking
import NIOCore

/// A push service to test against, which behaves as Firebase Cloud Messaging does: its HTTP v1 interface over HTTP/2, and the
/// endpoint that gives access tokens to a service account, over HTTP/1.1.
///
/// It checks assertions (signature, account, audience, times, scope), access tokens, targets and messages as Google documents,
/// and refuses them in Google's words. It can record the messages accepted (``MockFCMConfiguration/ledgerPath``), and misbehave
/// (``HoldfastMocking/MockScript``, ``HoldfastMocking/MockBehavior``, ``setTokenAnswer(_:)``).
///
/// Clients trust it by the certificate in ``certificateAuthorityFile``. A server that was started must be stopped.
public final class MockFCMServer: Sendable {
    /// The port that takes messages.
    public var port: Int { listener.port }
    /// The address that takes messages, to put into a URL: `127.0.0.1:4567`.
    public var address: String { listener.address }
    /// The endpoint of access tokens, the `token_uri` of the service account: `https://127.0.0.1:4568/token`.
    public var tokenURI: String { Self.tokenURI(service.configuration, tokenListener) }
    /// The directory of its certificates and keys, see ``MockFCMConfiguration/certificateDirectory``.
    public var certificateDirectory: String { home.path }
    /// The PEM file with the certificate of the authority that clients have to trust.
    public var certificateAuthorityFile: String { home.file(MockCredentials.File.authority) }
    /// The JSON file with the service account that gets access tokens.
    public var serviceAccountFile: String { home.file(MockServiceAccount.file) }
    /// The PEM file with the public half of the service account's key.
    public var publicKeyFile: String { home.file(MockServiceAccount.publicKeyFile) }

    private let service: MockFCMService
    private let home: MockHome
    private let listener: MockListener
    private let tokenListener: MockListener

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``HoldfastMocking/MockError``, or the system's error, when the configuration is invalid, the certificates or the ledger cannot
    ///   be read or written, or a port is not available.
    public static func start(_ configuration: MockFCMConfiguration = .init()) async throws -> MockFCMServer {
        try configuration.check()
        let home = try MockHome(
            path: configuration.certificateDirectory, names: configuration.names, host: configuration.host)
        let account = try MockServiceAccount(home.files, project: configuration.project)
        let ledger = try configuration.ledgerPath.map(Ledger.init)
        let service = MockFCMService(configuration, account: account, ledger: ledger)
        do {
            let tls =
                configuration.isCleartext
                ? nil : try MockTLSContexts(home.credentials, requiresClientCertificate: false, isLimitedToTLS12: false)
            let listener = try await MockListener.start(
                hosts: [MockListener.Host(host: configuration.host, port: configuration.port)],
                threads: configuration.eventLoopThreads
            ) { number, address in try service.receive(number, address, tls) }
            let tokenListener: MockListener
            do {
                tokenListener = try await startTokens(configuration, home, service)
            } catch {
                _ = try await listener.stop(within: .zero, farewell: MockCommand.drain(MockGoAway()))
                throw error
            }
            try account.write(home.files, tokenURI: tokenURI(configuration, tokenListener))
            return MockFCMServer(service, home, listener, tokenListener)
        } catch {
            try ledger?.close()
            try home.leave()
            throw error
        }
    }

    private static func startTokens(
        _ configuration: MockFCMConfiguration, _ home: MockHome, _ service: MockFCMService
    ) async throws -> MockListener {
        let uri = Locked("")
        let tls = configuration.isCleartext ? nil : try home.credentials.tlsContext(protocols: ["http/1.1"])
        let listener = try await MockListener.start(
            host: configuration.host, port: configuration.tokenPort, threads: 1, tls: tls
        ) { _ in TokenEndpoint.handlers(service) { uri.withLock { $0 } } }
        uri.withLock { $0 = tokenURI(configuration, listener) }
        return listener
    }

    private static func tokenURI(_ configuration: MockFCMConfiguration, _ listener: MockListener) -> String {
        "\(configuration.isCleartext ? "http" : "https")://\(listener.address)/token"
    }

    private init(
        _ service: MockFCMService, _ home: MockHome, _ listener: MockListener, _ tokenListener: MockListener
    ) {
        self.service = service
        self.home = home
        self.listener = listener
        self.tokenListener = tokenListener
    }
}

extension MockFCMServer {
    /// The counters. Requests are counted before their answers go out.
    public var counters: MockFCMCounters { service.counters.withLock { $0 } }

    /// Sets the departure from normal handling for all further messages; nil for none.
    public func setBehavior(_ behavior: MockBehavior?) { service.overrides.set(behavior: behavior) }

    /// Starts another script for all further events, counting from 1 again; nil for none.
    public func setScript(_ script: MockScript?) { service.overrides.set(script: script) }

    /// The number of decisions of each step of the script, in the order of the steps.
    public var scriptCounts: [(name: String, count: Int)] { service.overrides.scriptCounts }

    /// Sets the answer to further requests for access tokens, counted from 1; nil for the normal one.
    public func setTokenAnswer(_ answer: (@Sendable (_ number: Int) -> MockTokenAnswer?)?) {
        service.tokens.set(answer)
    }

    /// Takes no access token any more that was given before.
    public func revokeAccessTokens() { service.tokens.revokeAll() }

    /// Sends GOAWAY on all open connections, answers the requests before it, and closes them.
    public func goAway(_ goAway: MockGoAway = MockGoAway()) { listener.tell(MockCommand.drain(goAway)) }

    /// Closes all open connections for messages at once, whatever is under way on them.
    public func closeConnections() { listener.inTurn { channel in channel.close(promise: nil) } }

    /// Stops gracefully: accepts no new connections, sends GOAWAY on the open ones, answers the requests before it, and
    /// closes. The ledger is complete and on disk on return. A second call does nothing, and does not wait for the first.
    ///
    /// - Parameter limit: the timeout after which connections are closed, whatever is under way on them. Default: 5 s.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        guard try await listener.stop(within: limit, farewell: MockCommand.drain(MockGoAway())) else { return }
        _ = try await tokenListener.stop(within: .zero, farewell: MockCommand.drain(MockGoAway()))
        try service.ledger?.close()
        try home.leave()
    }
}
