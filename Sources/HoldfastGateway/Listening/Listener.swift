internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Accepts connections at one address, so many at a time, and ends them in order.
///
/// What is spoken on them is for the handlers: each connection has TLS where there is any, then theirs.
final class Listener: Sendable {
    /// Told to each open connection through its pipeline: take nothing new, answer what is in hand, and close.
    struct Drain: Sendable {}
    /// Told to a connection that is cut off behind it, for a reason that is counted already: see ``Channel/cutOff()``.
    struct CutOff: Sendable {}

    private let channel: any Channel
    private let door: ListenerDoor
    private let tls: ServerTLSVault?
    private let watches: [FileWatch]
    /// As it came to be: with the port that the system chose.
    let address: ListenAddress

    /// Listens from when it returns.
    ///
    /// - Parameters:
    ///   - tls: nil for cleartext.
    ///   - protocols: what ALPN takes; none for protocols that are older than it.
    ///   - door: who is let in.
    ///   - watching: files to be looked at, beside the revocation lists of its TLS.
    ///   - handlers: of a connection, the nearest to the socket first, behind TLS.
    /// - Throws: ``GatewayError``.
    static func start(
        _ address: ListenAddress, tls: ServerTLS?, protocols: [String] = [], door: ListenerDoor,
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
            // A connection keeps its buffer while it is idle: one that says little has a small one.
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 1024, maximum: 65536)
            )
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
            .childChannelInitializer { child in
                guard door.admits(child) else { return child.close() }
                return child.eventLoop.makeCompletedFuture {
                    let pipeline = child.pipeline.syncOperations
                    let secure = tls?.handlers(for: child, door) ?? []
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
            throw GatewayError(.cannotListen, "can't listen on \(address): \(Dialer.cause(error))")
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

    /// Reads the files of its TLS anew. Whether there is TLS at all stays what it is.
    ///
    /// - Returns: what uses them, for connections from then on, and ends those whose certificate is not good any more.
    /// - Throws: ``GatewayError`` that names the file that is wrong.
    func reloading(_ settings: ServerTLS?) throws(GatewayError) -> () -> Void {
        guard let tls, let settings else { return {} }
        let takeUp = try tls.reloading(settings)
        return {
            takeUp()
            self.door.guests.tell(ClientGate.JudgeChanged())
        }
    }

    /// Accepts no more, tells the open connections to ``Drain``, and waits until they have ended; those that have not by
    /// the limit are closed.
    func drain(within limit: Duration) async {
        for watch in watches { watch.cancel() }
        let channels = door.guests.end()
        // It may be closed already, or close with an error: it is gone either way.
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
