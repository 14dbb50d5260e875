import Foundation
import HoldfastOpenSSL
import NIOCore
import NIOPosix
import NIOSSL

/// A push service to test against, which behaves as Apple's does over HTTP/2.
///
/// It validates requests as Apple documents it and refuses them in the same words; it can write down what it accepted
/// (``MockAPNsConfiguration/ledgerPath``), and misbehave (``MockBehavior``).
///
/// Clients trust it by the certificate in ``certificateAuthorityFile``. A server that was started must be stopped.
public final class MockAPNsServer: Sendable {
    /// The port it listens on.
    public let port: Int
    /// `127.0.0.1:4567`, to put into a URL.
    public let address: String
    /// Where its certificates and keys are, see ``MockAPNsConfiguration/certificateDirectory``.
    public let certificateDirectory: String
    /// The PEM file with the certificate of the authority that clients are to trust.
    public var certificateAuthorityFile: String { "\(certificateDirectory)/\(MockCredentials.File.authority)" }
    /// The `.p8` file with the key that provider tokens are to be signed with.
    public var providerKeyFile: String { "\(certificateDirectory)/\(MockCredentials.File.providerKey)" }

    private let service: MockService
    private let providerKey: ES256PrivateKey
    private let ownsDirectory: Bool
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let connections: Locked<Connections>

    /// The open connections.
    struct Connections: Sendable {
        var count = 0
        var channels: [Int: any Channel] = [:]
        var isStopping = false
    }

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Throws: ``MockAPNsError``, or the system's error, when the configuration makes no sense, the certificates or the
    ///   ledger cannot be read or written, or the port cannot be had.
    public static func start(_ configuration: MockAPNsConfiguration = .init()) async throws -> MockAPNsServer {
        try configuration.check()
        let ownsDirectory = configuration.certificateDirectory == nil
        let directory =
            configuration.certificateDirectory
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-mock-\(UUID().uuidString)").path
        let names = configuration.names + (configuration.names.contains(configuration.host) ? [] : [configuration.host])
        let credentials = try MockCredentials(directory: directory, names: names)
        let ledger = try configuration.ledgerPath.map(Ledger.init)
        let service = MockService(configuration, providerKey: credentials.providerKey.publicKey, ledger: ledger)
        let tls = configuration.isCleartext ? nil : try tlsContext(credentials)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.eventLoopThreads)
        let connections = Locked(Connections())
        do {
            let listener = try await bootstrap(service, tls, group, connections)
                .bind(host: configuration.host, port: configuration.port).get()
            return MockAPNsServer(
                service, credentials.providerKey, directory, ownsDirectory: ownsDirectory, group, listener, connections)
        } catch {
            try await group.shutdownGracefully()
            try ledger?.close()
            if ownsDirectory { try FileManager.default.removeItem(atPath: directory) }
            throw error
        }
    }

    private init(
        _ service: MockService, _ providerKey: ES256PrivateKey, _ directory: String, ownsDirectory: Bool,
        _ group: MultiThreadedEventLoopGroup, _ listener: any Channel, _ connections: Locked<Connections>
    ) {
        self.service = service
        self.providerKey = providerKey
        certificateDirectory = directory
        self.ownsDirectory = ownsDirectory
        self.group = group
        self.listener = listener
        self.connections = connections
        port = listener.localAddress?.port ?? service.configuration.port
        let host = service.configuration.host
        address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func tlsContext(_ credentials: MockCredentials) throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: credentials.serverCertificatePEM, format: .pem)
        let key = try NIOSSLPrivateKey(bytes: credentials.serverKeyPEM, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func bootstrap(
        _ service: MockService, _ tls: NIOSSLContext?, _ group: MultiThreadedEventLoopGroup,
        _ connections: Locked<Connections>
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65536))
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 256 << 10, high: 1 << 20))
            .childChannelInitializer { channel in
                let number = connections.withLock { connections -> Int? in
                    guard !connections.isStopping else { return nil }
                    connections.count += 1
                    connections.channels[connections.count] = channel
                    return connections.count
                }
                guard let number else { return channel.close() }
                channel.closeFuture.whenComplete { _ in
                    connections.withLock { connections in connections.channels[number] = nil }
                }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.addHandler(MockConnection(service: service, number: number))
                }
            }
    }
}

extension MockAPNsServer {
    /// What it has counted. Requests are counted before their answers go out.
    public var counters: MockCounters { service.counters.withLock { $0 } }

    /// Changes how it departs from its normal ways, for what arrives from now on; nil for not at all.
    public func setBehavior(_ behavior: MockBehavior?) {
        service.behavior.withLock { $0 = behavior }
    }

    /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS on the connections that are open. More streams than that are
    /// refused from now on.
    public func setMaxConcurrentStreams(_ count: Int) {
        command(.setMaxConcurrentStreams(max(0, count)))
    }

    /// Sends GOAWAY on all connections that are open, answers what came before it, and closes them.
    public func goAway(_ goAway: MockGoAway = MockGoAway()) {
        command(.drain(goAway))
    }

    /// Closes all connections that are open at once, whatever is under way on them.
    public func closeConnections() {
        inTurn { channel in channel.close(promise: nil) }
    }

    /// A new provider token as ``MockAPNsConfiguration/ProviderTokens/verified`` wants it, to be sent behind `bearer `.
    ///
    /// - Parameter issuedAt: Unix seconds. Default: now.
    public func makeProviderToken(issuedAt: Int64? = nil) throws -> String {
        try ProviderToken.make(
            keyID: service.configuration.keyID, teamID: service.configuration.teamID,
            issuedAt: issuedAt ?? MockService.milliseconds() / 1000, key: providerKey)
    }

    /// Stops gracefully: no new connections; GOAWAY on those that are open, answers for what came before it, close.
    ///
    /// When it returns, the ledger is on disk and complete. A second call does nothing, and does not wait for the first.
    ///
    /// - Parameter limit: after this the connections are closed, whatever is under way on them.
    public func stop(within limit: Duration = .seconds(5)) async throws {
        let isFirst = connections.withLock { connections in
            defer { connections.isStopping = true }
            return !connections.isStopping
        }
        guard isFirst else { return }
        try await listener.close().get()
        let channels = openChannels
        command(.drain(MockGoAway()))
        let end = listener.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            for channel in channels { channel.close(promise: nil) }
        }
        // They may also end in an error; what matters is that they end.
        for channel in channels { await channel.closeFuture.finished() }
        end.cancel()
        try await group.shutdownGracefully()
        try service.ledger?.close()
        if ownsDirectory, FileManager.default.fileExists(atPath: certificateDirectory) {
            try FileManager.default.removeItem(atPath: certificateDirectory)
        }
    }

    private var openChannels: [any Channel] { connections.withLock { Array($0.channels.values) } }

    /// Does something with each connection in a turn of its event loop's own: a behavior may have asked for it in the
    /// middle of one.
    private func inTurn(_ action: @escaping @Sendable (any Channel) -> Void) {
        for channel in openChannels { channel.eventLoop.execute { action(channel) } }
    }

    private func command(_ command: MockCommand) {
        inTurn { channel in channel.pipeline.fireUserInboundEventTriggered(command) }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// Waits for it, and does not care how it came out.
    fileprivate func finished() async { _ = try? await get() }
}

extension MockAPNsConfiguration {
    fileprivate func check() throws {
        guard (0...65535).contains(port) else { throw MockAPNsError("\(port) is not a port") }
        guard eventLoopThreads >= 1 else { throw MockAPNsError("at least one event loop thread is needed") }
        guard maxConcurrentStreams >= 1 else { throw MockAPNsError("at least one stream at a time is needed") }
        guard tokenByteCounts.lowerBound >= 1, tokenByteCounts.upperBound <= 1024 else {
            throw MockAPNsError("a device token has 1 to 1024 bytes")
        }
        guard delay >= .zero else { throw MockAPNsError("a delay cannot be negative") }
    }
}
