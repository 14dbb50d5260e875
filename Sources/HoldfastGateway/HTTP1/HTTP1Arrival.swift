internal import NIOCore
internal import NIOHTTP1

/// Gives each request its time, from its first byte to its last: a head that trickles in is nothing that the decoder tells of.
///
/// Lives on one event loop, before NIO's codec. Behind the codec ``Parts`` tells it of ends.
final class HTTP1Arrival: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Directly behind the decoder, which may have decoded the end of a request that waits behind others.
    final class Parts: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias InboundOut = HTTPServerRequestPart

        private let arrival: HTTP1Arrival

        init(_ arrival: HTTP1Arrival) { self.arrival = arrival }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .end = unwrapInboundIn(data) { arrival.ended() }
            context.fireChannelRead(data)
        }
    }

    private let bridge: HTTP1Bridge
    private var hasBegun = false
    private var isOver = false
    /// Whether a part of a request is there, and its end is not.
    private var isUnderWay = false
    /// Whether a request has ended in the read at hand: what is there of another began with it.
    private var hasEnded = false
    /// Ends a request that takes too long to arrive.
    private var timer: Scheduled<Void>?

    init(_ bridge: HTTP1Bridge) { self.bridge = bridge }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        if !hasBegun {
            hasBegun = true
            bridge.begin()
        }
        hasEnded = false
        decode(unwrapInboundIn(data), context)
        if hasEnded || !isUnderWay { stop() }
        if isUnderWay, timer == nil { start(context) }
    }

    /// Has a read decoded. The decoder keeps the beginning of a request that comes in one read with the end of another, and tells
    /// of the end alone: so the last byte that is no line's end goes alone, and who ends with it or behind it leaves none. Some
    /// clients write an empty line behind a body (RFC 9112 section 2.2), which begins none.
    private func decode(_ read: ByteBuffer, _ context: ChannelHandlerContext) {
        var read = read
        guard let last = read.readableBytesView.lastIndex(where: { $0 != 0x0d && $0 != 0x0a }) else {
            return context.fireChannelRead(wrapInboundOut(read))
        }
        if let before = read.readSlice(length: last - read.readerIndex), before.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(before))
        }
        isUnderWay = true
        if let byte = read.readSlice(length: 1) { context.fireChannelRead(wrapInboundOut(byte)) }
        if read.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(read)) }
    }

    private func ended() { (isUnderWay, hasEnded) = (false, true) }

    private func stop() {
        timer?.cancel()
        timer = nil
    }

    private func start(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: bridge.requestLimit) {
            let (arrival, context) = bound.value
            arrival.timePassed(context)
        }
    }

    private func timePassed(_ context: ChannelHandlerContext) {
        timer = nil
        switch bridge.progress {
        // Of the requests behind it nothing is read.
        case .waitsForAnswer: start(context)
        case .arrives:
            isOver = true
            bridge.timeOut()
        case .none:
            isOver = true
            // Not by the codec, for which there is no request.
            let answer = "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            bridge.timeOut()
        }
    }
}
