internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Accepts connections at one address, up to a limit, and ends them gracefully.
///
/// The protocol is the handlers' concern: each connection has TLS where there is any, then the handlers.
final class Listener: Sendable {
    /// Sent to each open connection through its pipeline: take nothing new, answer pending requests, and close.
    struct Drain: Sendable {}
    /// Sent to a connection that is cut off behind it, for a reason that is counted already: see ``Channel/cutOff()``.
    struct CutOff: Sendable {}

    private let channel: any Channel
    private let door: ListenerDoor
    let tls: ServerTLSVault?
    private let watches: [FileWatch]
    /// The actual address, with the port that the system chose.
    let address: ListenAddress

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - tls: nil for cleartext.
    ///   - protocols: for ALPN; empty for protocols that are older than it.
    ///   - readsServerName: whether handlers are told the ``ServerName``.
    ///   - door: decides which connections are admitted.
    ///   - watching: files to be checked, beside the revocation lists of its TLS.
    ///   - handlers: makes the handlers of a connection, the nearest to the socket first, behind TLS.
    /// - Throws: ``GatewayError``.
    static func start(
        _ address: ListenAddress, tls: ServerTLS?, protocols: [String] = [], readsServerName: Bool = false,
        door: ListenerDoor,
        watching files: [WatchedFiles] = [],
        handlers: @escaping @Sendable (any Channel) throws -> [any ChannelHandler]
    ) async throws(GatewayError) -> Listener {
        let tls = try tls.map { settings throws(GatewayError) in try ServerTLSVault(settings, protocols: protocols) }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections inherit these.
            .serverChannelOption(.socketOption(.so_keepalive), value: 1)
            .serverChannelOption(.tcpOption(Keepalive.idleOption), value: Keepalive.idle)
            .serverChannelOption(.tcpOption(Keepalive.intervalOption), value: Keepalive.interval)
            .serverChannelOption(.tcpOption(Keepalive.countOption), value: Keepalive.count)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause { door.log.cannotAccept($0) })
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A connection keeps its buffer while it is idle: a quiet one has a small one.
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 1024, maximum: 65536)
            )
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
            .childChannelInitializer { child in
                guard door.admits(child) else { return child.close() }
                return child.eventLoop.makeCompletedFuture {
                    let pipeline = child.pipeline.syncOperations
                    var secure = tls?.handlers(for: child, door) ?? []
                    if readsServerName, tls != nil { secure.insert(ServerName.reader(for: child), at: 0) }
                    for handler in try secure + handlers(child) { try pipeline.addHandler(handler) }
                }
            }
        do {
            let channel = try await bootstrap.bind(host: address.host, port: address.port).get()
            if let bound = channel.localAddress {
                OwnListeners.shared.opened(bound)
                channel.closeFuture.whenComplete { _ in OwnListeners.shared.closed(bound) }
            }
            return Listener(channel, door, tls, address, files)
        } catch {
            throw .cannotListen(on: address, error)
        }
    }

    private init(
        _ channel: any Channel, _ door: ListenerDoor, _ tls: ServerTLSVault?, _ address: ListenAddress,
        _ files: [WatchedFiles]
    ) {
        self.channel = channel
        self.door = door
        self.tls = tls
        self.address = ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
        let files = files + [tls.map { Self.revocationLists(of: $0, door) }].compactMap(\.self)
        watches = files.map { FileWatch($0, on: channel.eventLoop) }
    }

    var openConnections: Int { door.guests.count }
    /// The most connections at a time.
    var connectionLimit: Int { door.limits().connections }
    /// Whether a client without a certificate is turned away.
    var demandsCertificate: Bool { tls?.settings.requiresClientCertificate == true }

    private static func revocationLists(of tls: ServerTLSVault, _ door: ListenerDoor) -> WatchedFiles {
        WatchedFiles(
            interval: { tls.settings.clientRevocationsInterval }, look: { tls.lookAtRevocations() },
            tell: { look in
                if case .failed(let why) = look {
                    return door.log(.revocationLists, "the revocation lists that were read before hold on: \(why)")
                }
                door.log.took(.revocationLists, "other revocation lists are taken up")
                door.guests.tell(ClientGate.JudgeChanged())
            })
    }

    /// Reads the files of its TLS again. Cleartext stays cleartext, and TLS stays TLS.
    ///
    /// - Returns: a closure that uses them for further connections, and ends open ones whose certificate is not valid
    ///   any more.
    /// - Throws: ``GatewayError`` that names the faulty file.
    func reloading(_ settings: ServerTLS?) throws(GatewayError) -> () -> Void {
        guard let tls, let settings else { return {} }
        let takeUp = try tls.reloading(settings)
        return {
            takeUp()
            self.door.guests.tell(ClientGate.JudgeChanged())
        }
    }

    /// Accepts no more connections, tells the open ones to ``Drain``, and waits until they have ended; at the limit the
    /// rest are closed.
    func drain(within limit: Duration) async {
        for watch in watches { watch.cancel() }
        let channels = door.guests.end()
        // It may be closed already, or fail to close: it is gone either way.
        do { try await channel.close().get() } catch {}
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(Drain()) }
        let timer = MultiThreadedEventLoopGroup.singleton.next().scheduleTask(in: TimeAmount(limit)) {
            for channel in channels {
                channel.eventLoop.execute { channel.cutOff() }
            }
        }
        for channel in channels { do { try await channel.closeFuture.get() } catch {} }
        timer.cancel()
    }
}
