package import NIOCore

/// Carries what it reads to another channel, and its end.
package final class Carrier: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer

    private let other: any Channel

    package init(to other: any Channel) { self.other = other }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
}
