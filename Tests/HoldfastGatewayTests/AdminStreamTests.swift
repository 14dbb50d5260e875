import Holdfast
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastGateway

/// Answers of the operators' page that go on.
@Suite("The operators' page with an answer that goes on", .timeLimit(.minutes(1)))
struct AdminStreamTests {
    private struct State: Sendable {
        var parts = 0
        var ended = 0
    }

    /// A server whose page tells without an end, and a client that asks it, and reads for as long as `body` lets it.
    private func streaming(
        _ state: Monitor<State>, pause: Duration, part: Int = 64 << 10, receiveBuffer: Int? = nil,
        _ body: (any Channel, Monitor<Int>) async throws -> Void
    ) async throws {
        var configuration = AdminConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        configuration.request = .milliseconds(500)
        let page = AdminPage("stream") { _ in
            AdminPage.Answer(streaming: "text/event-stream", ended: { state.withLock { $0.ended += 1 } }) {
                try await Task.sleep(for: pause)
                state.withLock { $0.parts += 1 }
                return [UInt8](repeating: UInt8(ascii: "x"), count: part)
            }
        }
        let server = try AdminServer(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, health: { Health() },
            metrics: { "" }, pages: [page])
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await server.run() }
            let deadline = ContinuousClock.now + .seconds(10)
            while server.address == nil, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
            let read = Monitor(0)
            var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            if let receiveBuffer {
                bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
            }
            let channel =
                try await bootstrap
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Counter(read))
                    }
                }
                .connect(host: "127.0.0.1", port: try #require(server.address).port).get()
            try await channel.writeAndFlush(ByteBuffer(string: "GET /stream HTTP/1.1\r\nhost: localhost\r\n\r\n")).get()
            try await body(channel, read)
            channel.close(promise: nil)
            tasks.cancelAll()
        }
    }

    @Test(
        "A client that goes away, or closes its side, frees its place at once, however long nothing is to be told",
        arguments: [true, false])
    func gone(closesAll: Bool) async throws {
        let state = Monitor(State())
        try await streaming(state, pause: .seconds(600)) { channel, read in
            #expect(try await wait { read.withLock { $0 } > 0 })
            if closesAll {
                try await channel.close().get()
            } else {
                try await channel.close(mode: .output).get()
            }
            let start = ContinuousClock.now
            #expect(try await wait { state.withLock { $0.ended } == 1 })
            #expect(ContinuousClock.now - start < .seconds(2))
        }
    }

    private func wait(_ condition: () -> Bool) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while !condition() {
            if ContinuousClock.now > deadline { return false }
            try await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    @Test("A client that does not read is written for no further, and cut when its time is over") func stalled()
        async throws
    {
        let state = Monitor(State())
        try await streaming(state, pause: .zero) { channel, _ in
            try await channel.setOption(.autoRead, value: false).get()
            #expect(try await wait { state.withLock { $0.ended == 1 } })
            // What the kernel and the channel take, which is some megabytes; not as much as there is time for.
            #expect(state.withLock { $0.parts } < 1000)
        }
    }

    @Test("A client that does not read is cut by what its own system takes, though this one's buffer has room")
    func stopped() async throws {
        let state = Monitor(State())
        // Two parts fill its buffer; what waits in this system's is far from being too much.
        try await streaming(state, pause: .milliseconds(100), part: 8 << 10, receiveBuffer: 4096) { channel, _ in
            try await channel.setOption(.autoRead, value: false).get()
            #expect(try await wait { state.withLock { $0.ended == 1 } })
            #expect(state.withLock { $0.parts } < 40)
        }
    }

    @Test("A client that takes a little at a time is served, however much waits for it") func dripping() async throws {
        let state = Monitor(State())
        try await streaming(state, pause: .zero, receiveBuffer: 4096) { channel, read in
            try await channel.setOption(.autoRead, value: false).get()
            // Four times as long as nothing may be taken.
            let end = ContinuousClock.now + .seconds(2)
            while ContinuousClock.now < end {
                channel.read()
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(state.withLock { $0.ended == 0 } && read.withLock { $0 } < 4 << 20)
        }
    }

    @Test("A client that reads is served for longer than a request may take, and its going is noticed") func served()
        async throws
    {
        let state = Monitor(State())
        try await streaming(state, pause: .milliseconds(50)) { (channel, read) async throws in
            #expect(try await wait { read.withLock { $0 } > 40 * (64 << 10) })
            #expect(state.withLock { $0.ended == 0 })
            channel.close(promise: nil)
            #expect(try await wait { state.withLock { $0.ended == 1 } })
        }
    }
}

private final class Counter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let count: Monitor<Int>

    init(_ count: Monitor<Int>) { self.count = count }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).readableBytes
        count.withLock { $0 += bytes }
    }
}
