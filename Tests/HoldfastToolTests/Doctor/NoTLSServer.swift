import NIOCore
import NIOPosix

/// Listens on a port of this machine, answers whatever comes first with a text, and closes.
struct NoTLSServer {
    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let text: String

        init(_ text: String) { self.text = text }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let context = NIOLoopBound(context, eventLoop: context.eventLoop)
            let answer = context.value.channel.allocator.buffer(string: text)
            context.value.channel.writeAndFlush(answer).whenComplete { _ in context.value.close(promise: nil) }
        }
    }

    private let channel: any Channel

    init(_ text: String) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answer(text)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func close() async throws { try await channel.close() }
}
