import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// A port that a mock listens on, and the connections that came to it.
final class MockListener: Sendable {
    /// The port it listens on.
    let port: Int
    /// `127.0.0.1:4567`, to put into a URL.
    let address: String

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let connections: Locked<Connections>

    /// The open connections.
    private struct Connections: Sendable {
        var count = 0
        var channels: [Int: any Channel] = [:]
        var isStopping = false
    }

    /// Accepts connections from when it returns.
    ///
    /// - Parameters:
    ///   - receiveBuffer: bytes that the kernel keeps for a connection; nil for as many as it likes.
    ///   - tls: nil for cleartext.
    ///   - handlers: makes a connection's handlers, given its number, counted from 1; the first is the nearest to the
    ///     socket where it is a ``MockWire``, below TLS, and the others stand above TLS.
    static func start(
        host: String, port: Int, threads: Int, receiveBuffer: Int? = nil, tls: NIOSSLContext?,
        handlers: @escaping @Sendable (Int) -> [any ChannelHandler]
    ) async throws -> MockListener {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let connections = Locked(Connections())
        do {
            var bootstrap = bootstrap(group, connections, tls, handlers)
            if let receiveBuffer {
                // Connections have the listener's.
                bootstrap = bootstrap.serverChannelOption(
                    .socketOption(.so_rcvbuf), value: SocketOptionValue(receiveBuffer))
            }
            let channel = try await bootstrap.bind(host: host, port: port).get()
            return MockListener(group, channel, connections, host: host, port: port)
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private init(
        _ group: MultiThreadedEventLoopGroup, _ channel: any Channel, _ connections: Locked<Connections>, host: String,
        port: Int
    ) {
        self.group = group
        self.channel = channel
        self.connections = connections
        self.port = channel.localAddress?.port ?? port
        address = host.contains(":") ? "[\(host)]:\(self.port)" : "\(host):\(self.port)"
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ connections: Locked<Connections>, _ tls: NIOSSLContext?,
        _ handlers: @escaping @Sendable (Int) -> [any ChannelHandler]
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
                    let handlers = handlers(number)
                    for handler in handlers where handler is MockWire { try pipeline.addHandler(handler) }
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    for handler in handlers where !(handler is MockWire) { try pipeline.addHandler(handler) }
                }
            }
    }

    private var openChannels: [any Channel] { connections.withLock { Array($0.channels.values) } }

    /// Does something with each connection in a turn of its event loop's own: a behavior may have asked for it in the
    /// middle of one.
    func inTurn(_ action: @escaping @Sendable (any Channel) -> Void) {
        for channel in openChannels { channel.eventLoop.execute { action(channel) } }
    }

    /// Tells each open connection something, as an event through its pipeline.
    func tell(_ event: any Sendable) {
        inTurn { channel in channel.pipeline.fireUserInboundEventTriggered(event) }
    }

    /// No new connections; those that are open get `limit` to end after `farewell`, and are then ended with `end`.
    ///
    /// - Returns: false when it was stopped before, which is not waited for.
    func stop(
        within limit: Duration, farewell: any Sendable,
        end: @escaping @Sendable (any Channel) -> Void = { channel in channel.close(promise: nil) }
    ) async throws -> Bool {
        let isFirst = connections.withLock { connections in
            defer { connections.isStopping = true }
            return !connections.isStopping
        }
        guard isFirst else { return false }
        try await channel.close().get()
        let channels = openChannels
        tell(farewell)
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            for channel in channels { channel.eventLoop.execute { end(channel) } }
        }
        // They may also end in an error; what matters is that they end.
        for channel in channels { await channel.closeFuture.finished() }
        timer.cancel()
        try await group.shutdownGracefully()
        return true
    }
}

extension EventLoopFuture where Value: Sendable {
    /// Waits for it, and does not care how it came out.
    fileprivate func finished() async { _ = try? await get() }
}
