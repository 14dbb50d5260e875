import Foundation
import HoldfastPlatform
package import NIOCore
import NIOPosix
package import NIOSSL

/// The addresses of a mock, and the connections accepted there.
package final class MockListener: Sendable {
    /// The listening addresses, in the order asked for; at least one.
    package let addresses: [MockAddress]
    /// The port of the first address.
    package var port: Int { addresses[0].port }
    /// The first address, to put into a URL: `127.0.0.1:4567`.
    package var address: String { addresses[0].description }

    private let group: MultiThreadedEventLoopGroup
    private let channels: [any Channel]
    private let connections: Locked<Connections>

    /// An address to listen on.
    package struct Host: Sendable {
        package var host: String
        /// nil for the first host's port.
        package var port: Int?
        package var isManagement: Bool

        package init(host: String, port: Int?, isManagement: Bool = false) {
            (self.host, self.port, self.isManagement) = (host, port, isManagement)
        }
    }

    /// The open connections.
    private struct Connections: Sendable {
        var count = 0
        var channels: [Int: any Channel] = [:]
        var isStopping = false
    }

    /// The way in which a connection is received.
    package struct Reception {
        /// nil for cleartext.
        package var tls: NIOSSLContext?
        /// The first is the nearest to the socket where it is a ``MockWire``, below TLS; the others stand above TLS.
        package var handlers: [any ChannelHandler]
        /// Replaces TLS where the handshake is to fail.
        package var breaker: (any ChannelHandler)?
        package var reading: MockConnectionPlan.Reading?
    }

    package enum Arrival {
        case received(Reception)
        case closed
        case reset
    }

    /// Starts to listen; connections are accepted when this returns.
    ///
    /// - Parameters:
    /// - receiveBuffer: bytes of the kernel's receive buffer for a connection; nil for the kernel's default.
    ///   - tls: nil for cleartext.
    ///   - handlers: makes a connection's handlers, given its number, counted from 1; the first is the nearest to the
    ///     socket where it is a ``MockWire``, below TLS, and the others stand above TLS.
    package static func start(
        host: String, port: Int, threads: Int, receiveBuffer: Int? = nil, tls: NIOSSLContext?,
        handlers: @escaping @Sendable (Int) -> [any ChannelHandler]
    ) async throws -> MockListener {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let connections = Locked(Connections())
        do {
            var bootstrap = bootstrap(group, connections) { number, _ in
                .received(Reception(tls: tls, handlers: handlers(number)))
            }
            if let receiveBuffer {
                // Connections inherit the listener's.
                bootstrap = bootstrap.serverChannelOption(
                    .socketOption(.so_rcvbuf), value: SocketOptionValue(receiveBuffer))
            }
            let channel = try await bind(bootstrap, host, port)
            return MockListener(group, [channel], connections, [Host(host: host, port: port)])
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    /// Starts to listen on several addresses; connections are accepted when this returns.
    ///
    /// - Parameters:
    ///   - hosts: one at least.
    /// - receive: asked about each connection, given its number and the address it came to.
    package static func start(
        hosts: [Host], threads: Int,
        receive: @escaping @Sendable (Int, MockAddress) throws -> Arrival
    ) async throws -> MockListener {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let connections = Locked(Connections())
        var channels: [any Channel] = []
        do {
            for host in hosts {
                let bootstrap = bootstrap(group, connections) { number, parent in
                    try receive(number, MockAddress(host, port: parent?.localAddress?.port))
                }
                let port = host.port ?? channels.first?.localAddress?.port ?? 0
                channels.append(try await bind(bootstrap, host.host, port))
            }
            return MockListener(group, channels, connections, hosts)
        } catch {
            for channel in channels { await channel.close().finished() }
            try await group.shutdownGracefully()
            throw error
        }
    }

    private static func bind(_ bootstrap: ServerBootstrap, _ host: String, _ port: Int) async throws -> any Channel {
        do {
            return try await bootstrap.bind(host: host, port: port).get()
        } catch let error as IOError {
            throw MockError("cannot listen on \(MockAddress(host: host, port: port))", because: error)
        }
    }

    private init(
        _ group: MultiThreadedEventLoopGroup, _ channels: [any Channel], _ connections: Locked<Connections>,
        _ hosts: [Host]
    ) {
        self.group = group
        self.channels = channels
        self.connections = connections
        addresses = zip(hosts, channels).map { MockAddress($0, port: $1.localAddress?.port) }
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ connections: Locked<Connections>,
        _ receive: @escaping @Sendable (Int, (any Channel)?) throws -> Arrival
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
                do {
                    switch try receive(number, channel.parent) {
                    case .received(let reception):
                        return channel.eventLoop.makeCompletedFuture { try add(reception, to: channel) }
                    case .closed: return channel.close()
                    case .reset: return reset(channel)
                    }
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }
    }

    private static func reset(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let socket = channel as? any SocketOptionProvider else { return channel.close() }
        return socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).flatMap { channel.close() }
    }

    private static func add(_ reception: Reception, to channel: any Channel) throws {
        if let reading = reception.reading {
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: max(1, reading.byteCount)))
            // Otherwise the kernel would take megabytes off the client's hands. Its minimum is some two thousand bytes.
            try channel.syncOptions?.setOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(reading.byteCount))
        }
        let pipeline = channel.pipeline.syncOperations
        for handler in reception.handlers where handler is MockWire { try pipeline.addHandler(handler) }
        if let breaker = reception.breaker {
            try pipeline.addHandler(breaker)
        } else if let tls = reception.tls {
            try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        }
        for handler in reception.handlers where !(handler is MockWire) { try pipeline.addHandler(handler) }
    }

    private var openChannels: [any Channel] { connections.withLock { Array($0.channels.values) } }

    /// Runs an action for each connection in a turn of its own on the event loop: a behavior may have asked for it in
    /// the middle of one.
    package func inTurn(_ action: @escaping @Sendable (any Channel) -> Void) {
        for channel in openChannels { channel.eventLoop.execute { action(channel) } }
    }

    /// Sends an event through the pipeline of each open connection.
    package func tell(_ event: any Sendable) {
        inTurn { channel in channel.pipeline.fireUserInboundEventTriggered(event) }
    }

    /// Accepts no more connections. Open ones get `limit` to end after `farewell`, and are then ended with `end`.
    ///
    /// - Returns: false for a second call, which does not wait for the first.
    package func stop(
        within limit: Duration, farewell: any Sendable,
        end: @escaping @Sendable (any Channel) -> Void = { channel in channel.close(promise: nil) }
    ) async throws -> Bool {
        let isFirst = connections.withLock { connections in
            defer { connections.isStopping = true }
            return !connections.isStopping
        }
        guard isFirst else { return false }
        for channel in channels { try await channel.close().get() }
        let channels = openChannels
        tell(farewell)
        let timer = group.next().scheduleTask(in: TimeAmount(limit)) {
            for channel in channels { channel.eventLoop.execute { end(channel) } }
        }
        // Their ends may fail, too; it only matters that they end.
        for channel in channels { await channel.closeFuture.finished() }
        timer.cancel()
        try await group.shutdownGracefully()
        return true
    }
}

extension MockAddress {
    fileprivate init(_ host: MockListener.Host, port: Int?) {
        self.init(host: host.host, port: port ?? host.port ?? 0, isManagement: host.isManagement)
    }
}

extension EventLoopFuture where Value: Sendable {
    /// Waits for the end, whatever the result.
    fileprivate func finished() async { _ = try? await get() }
}
