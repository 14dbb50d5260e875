internal import Holdfast
internal import NIOCore

/// Performs a ``SOCKSHandshake`` on a channel, and leaves when it is over.
final class SOCKSHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var handshake: SOCKSHandshake
    /// Completed on the loop; the handlers of the tunnel's bytes are in place when that returns.
    private let established: EventLoopPromise<Void>

    init(_ handshake: SOCKSHandshake, established: EventLoopPromise<Void>) {
        self.handshake = handshake
        self.established = established
    }

    func channelActive(context: ChannelHandlerContext) {
        write(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        do throws(SOCKSHandshake.Refusal) {
            try handshake.receive(buffer.readableBytesView)
        } catch {
            established.fail(error)
            return context.close(promise: nil)
        }
        write(context)
        guard handshake.isEstablished else { return }
        established.succeed()
        let rest = handshake.takeRest()
        if !rest.isEmpty {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func write(_ context: ChannelHandlerContext) {
        let output = handshake.takeOutput()
        guard !output.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: output)), promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        established.fail(
            SOCKSHandshake.Refusal(kind: .temporary, why: "closed the connection in the middle of the handshake"))
    }
}
