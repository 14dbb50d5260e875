import Holdfast
import HoldfastHTTP2
import HoldfastRequests
import HoldfastTransport
import NIOCore
import NIOPosix

/// A port on loopback that takes POSTs in the clear over HTTP/2, 50 at a time, and answers the n-th with a status.
final class PostServer: Sendable {
    private let channel: any Channel

    private init(_ channel: any Channel) { self.channel = channel }

    static func start(_ status: @escaping @Sendable (_ number: Int) -> Int) async throws -> PostServer {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PostConversation(status))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return PostServer(channel)
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func stop() async throws { try await channel.close().get() }

    func connect(_ sink: ConnectionSink) async throws -> RequestConnection<PostDialect> {
        let dialer = Dialer(
            endpoint: "http://127.0.0.1:\(port)", host: "127.0.0.1", port: port, tls: nil, trust: .system,
            deadline: .seconds(10))
        return try await dialer.connect(on: Dialer.nextLoop()) { channel, dialed, ready in
            try RequestConnection(PostDialect(), .sample, over: channel, to: dialed, sink: sink, ready: ready)
        }
    }
}

/// One connection of a ``PostServer``. Confined to its event loop.
private final class PostConversation: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let status: @Sendable (Int) -> Int
    private var session: HTTP2ServerSession
    private var count = 0

    init(_ status: @escaping @Sendable (Int) -> Int) {
        self.status = status
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = 50
        session = HTTP2ServerSession(limits: limits)
    }

    func channelActive(context: ChannelHandlerContext) { write(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        var events = HTTP2ServerEvents()
        session.receive(buffer.readableBytesUInt8Span, events: &events)
        for request in events.requests {
            count += 1
            session.respond(streamID: request.streamID, status: status(count))
        }
        write(context)
    }

    private func write(_ context: ChannelHandlerContext) {
        guard session.hasOutput else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: session.takeOutput())), promise: nil)
    }
}
