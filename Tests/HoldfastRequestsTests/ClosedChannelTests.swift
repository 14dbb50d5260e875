import Holdfast
import HoldfastRequests
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

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

    @Test("A connection made while it closes fails, and nothing of it stays alive", .timeLimit(.minutes(1)))
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
            // Too late for a connection that has told its end.
            ready.fail(CancellationError())
            await #expect(throws: ConnectError.self) { _ = try await ready.futureResult.get() }
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
