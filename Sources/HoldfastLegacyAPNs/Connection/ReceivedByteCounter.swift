internal import NIOCore

/// Counts what is read from the socket, below TLS.
final class ReceivedByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private(set) var count: UInt64 = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += UInt64(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }
}
