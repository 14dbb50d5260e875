import NIOCore
import NIOPosix
import RawClients
import Testing

@testable import Holdfast

/// A port on loopback that does with what it reads as a test says, byte by byte.
final class TestPeer: Sendable {
    /// What a connection does with all the bytes it has read until now, on its event loop.
    typealias Turn = @Sendable (Conversation) -> Void

    let port: Int
    private let channel: any Channel
    private let accepted: Monitor<[any Channel]>

    /// How many connections it has taken.
    var connections: Int { accepted.withLock { $0.count } }

    private init(_ channel: any Channel, _ accepted: Monitor<[any Channel]>) {
        self.channel = channel
        self.accepted = accepted
        port = channel.localAddress?.port ?? 0
    }

    /// - Parameter turn: called when a connection opens, and whenever it has read something.
    static func start(_ turn: @escaping Turn = { _ in }) async throws -> TestPeer {
        let accepted = Monitor<[any Channel]>([])
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.withLock { $0.append(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Conversation(turn))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TestPeer(channel, accepted)
    }

    func stop() async throws {
        try await channel.close().get()
        for channel in accepted.withLock({ $0 }) { channel.close(promise: nil) }
    }
}

/// One connection of a ``TestPeer``. Confined to its event loop.
final class Conversation: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let turn: TestPeer.Turn
    private var context: ChannelHandlerContext?
    /// What was read and not taken.
    var received: [UInt8] = []
    /// How far the conversation has come; the test's own count.
    var step = 0
    /// To whom bytes go from now on.
    private var partner: (any Channel)?

    init(_ turn: @escaping TestPeer.Turn) { self.turn = turn }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        turn(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if let partner { return partner.writeAndFlush(buffer, promise: nil) }
        received += buffer.readableBytesView
        turn(self)
    }

    func channelInactive(context: ChannelHandlerContext) {
        partner?.close(promise: nil)
        self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func write(_ bytes: [UInt8]) {
        context?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
    }

    func close() { context?.close(promise: nil) }

    /// The first bytes of what was received, once there are so many.
    func take(_ count: Int) -> [UInt8]? {
        guard received.count >= count else { return nil }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// From here on carries bytes between this connection and a port on loopback; `greeting` is written first.
    func join(port: Int, greeting: [UInt8]) {
        guard let context else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Carrier(to: bound.value.1.channel))
                }
            }
            .connect(host: "127.0.0.1", port: port).whenSuccess { channel in
                let (conversation, _) = bound.value
                conversation.partner = channel
                conversation.write(greeting)
                if !conversation.received.isEmpty {
                    channel.writeAndFlush(ByteBuffer(bytes: conversation.received), promise: nil)
                    conversation.received = []
                }
            }
    }
}
