import HoldfastRequests
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import Holdfast
@testable import HoldfastTransport

/// A peer may close a connection before anybody has a handler on its channel.
@Suite("A channel that has closed already") struct ClosedChannelTests {
    private typealias Ready = EventLoopPromise<RequestConnection<PostDialect>>

    @Test("A connection over it is an error, and nothing of it stays alive", .timeLimit(.minutes(1)))
    func closed() async throws {
        let server = try await PostServer.start { _ in 200 }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.port).get()
        try await channel.close().get()
        try await channel.closeFuture.get()
        weak var kept: EventLoopFuture<RequestConnection<PostDialect>>?
        func attempt() async throws {
            let ready: Ready = channel.eventLoop.makePromise()
            kept = ready.futureResult
            await #expect(throws: (any Error).self) {
                try await channel.eventLoop.submit {
                    do {
                        try Self.connect(over: channel, ready)
                    } catch {
                        ready.fail(error)
                        throw error
                    }
                }.get()
            }
        }
        try await attempt()
        #expect(await Patience(.seconds(10)).wait { kept == nil })
        try await server.stop()
    }

    @Test("An address that refuses is an error, and nothing of the attempt stays alive", .timeLimit(.minutes(1)))
    func refused() async throws {
        let server = try await PostServer.start { _ in 200 }
        let port = server.port
        try await server.stop()
        let kept = Monitor<[WeakConnection]>([])
        let dialer = Dialer(
            endpoint: "http://127.0.0.1:\(port)", host: "127.0.0.1", port: port, tls: nil, trust: .system,
            deadline: .seconds(10))
        await #expect(throws: ConnectError.self) {
            _ = try await dialer.connect(on: Dialer.nextLoop()) { (channel, dialed, ready: Ready) in
                let connection = try RequestConnection(
                    PostDialect(), .sample, over: channel, to: dialed, sink: ConnectionSink { _ in }, ready: ready)
                kept.withLock { $0.append(WeakConnection(connection: connection)) }
            }
        }
        let isGone = await Patience(.seconds(10)).wait {
            kept.withLock { kept in !kept.isEmpty && kept.allSatisfy { $0.connection == nil } }
        }
        #expect(isGone)
    }

    @Test("A connection made while it closes leaves nothing alive", .timeLimit(.minutes(1)))
    func closing() async throws {
        let server = try await PostServer.start { _ in 200 }
        weak var kept: EventLoopFuture<RequestConnection<PostDialect>>?
        func attempt() async throws {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let ready: Ready = loop.makePromise()
            kept = ready.futureResult
            let channel = try await ClientBootstrap(group: loop).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // The pipeline is still there, and has told of the end already.
                    let late = LateHandler { try Self.connect(over: channel, ready) }
                    try channel.pipeline.syncOperations.addHandler(late)
                }
            }.connect(host: "127.0.0.1", port: server.port).get()
            try await channel.close().get()
            try await channel.closeFuture.get()
            ready.fail(CancellationError())
        }
        try await attempt()
        #expect(await Patience(.seconds(10)).wait { kept == nil })
        try await server.stop()
    }

    private static func connect(over channel: any Channel, _ ready: Ready) throws {
        try RequestConnection(
            PostDialect(), .sample, over: channel, to: DialedAddress(text: "127.0.0.1:1", watch: nil),
            sink: ConnectionSink { _ in }, ready: ready)
    }
}

private struct WeakConnection {
    weak let connection: RequestConnection<PostDialect>?
}

/// Does something when its channel has just become inactive. Handlers behind it are not told of that, as if they had come
/// later.
private final class LateHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let act: () throws -> Void

    init(_ act: @escaping () throws -> Void) { self.act = act }

    func channelInactive(context: ChannelHandlerContext) {
        do { try act() } catch { Issue.record("no handler could be added: \(error)") }
    }
}
