internal import NIOCore

/// Turns bytes into messages and messages into bytes.
final class MessageHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ControlMessage
    typealias OutboundIn = ControlMessage
    typealias OutboundOut = ByteBuffer

    /// A message has begun, and is not complete yet.
    struct Began: Sendable {}

    private var reader: MessageReader
    private var isDead = false

    init(limits: MessageLimits) { reader = MessageReader(limits: limits) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Behind what was too large nothing can be understood.
        guard !isDead else { return }
        do throws(ControlError) {
            let wasAmid = reader.isAmidMessage
            let messages = try reader.take(unwrapInboundIn(data).readableBytesView)
            for message in messages { context.fireChannelRead(wrapInboundOut(message)) }
            if reader.isAmidMessage, !wasAmid || !messages.isEmpty {
                context.fireUserInboundEventTriggered(Began())
            }
        } catch {
            isDead = true
            context.fireErrorCaught(error)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let buffer = context.channel.allocator.buffer(bytes: unwrapOutboundIn(data).bytes)
        context.write(wrapOutboundOut(buffer), promise: promise)
    }
}
