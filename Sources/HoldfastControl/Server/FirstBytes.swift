internal import NIOCore

/// Waits for the first bytes of a connection, and reports that some have come, before they are parsed as HTTP.
///
/// A tool of the protocol's first version, which was not HTTP, waits for the owner to speak. Since it stays silent, it gets
/// the greeting that it knows, with a version that it does not know, and so can tell its user what is wrong.
final class FirstBytes: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Bytes have come.
    struct Came: Sendable {}

    private let limit: TimeAmount
    private let greeting: [UInt8]
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - limit: how long to wait for them.
    ///   - greeting: sent to a client that is silent until then, before its connection is closed.
    init(limit: TimeAmount, greeting: [UInt8]) { (self.limit, self.greeting) = (limit, greeting) }

    /// A line, and an empty one.
    static func greeting(_ owner: OwnerForm) throws -> [UInt8] { try Form.line(owner) + Array("\n\n".utf8) }

    func handlerAdded(context: ChannelHandlerContext) {
        let isolated = context.loopBound
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.giveUp(isolated.value) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        timer?.cancel()
        context.fireUserInboundEventTriggered(Came())
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func giveUp(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: greeting)), promise: nil)
        context.close(promise: nil)
    }
}
