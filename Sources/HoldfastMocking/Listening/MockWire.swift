import HoldfastPlatform
package import NIOCore

/// Stands between TLS and the socket: resets the connection, writes in small pieces, and reads slowly.
package final class MockWire: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?
    private var pieceByteCount: Int?
    private var readPause: TimeAmount?
    private var isPausing = false

    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Writes from now on in segments of this many bytes; nil for no limit.
    package func split(every byteCount: Int?) { pieceByteCount = byteCount.map { max(1, $0) } }

    /// Waits before each read.
    package func pauseReads(for pause: TimeAmount?) { readPause = pause }

    package func read(context: ChannelHandlerContext) {
        guard let readPause else { return context.read() }
        guard !isPausing else { return }
        isPausing = true
        context.eventLoop.assumeIsolated().scheduleTask(in: readPause) {
            self.isPausing = false
            self.context?.read()
        }
    }

    /// Ends the connection without TLS's close_notify. The kernel makes it a reset where something is unread.
    package func close() { context?.close(promise: nil) }

    /// Ends the connection with RST: bytes that either side has not read yet may be lost.
    package func reset() {
        guard let context else { return }
        guard let socket = context.channel as? any SocketOptionProvider else {
            context.close(promise: nil)
            return
        }
        // From this handler outwards: TLS would first send close_notify.
        let isolated = context.loopBound
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
            isolated.value.close(promise: nil)
        }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let pieceByteCount else {
            context.write(data, promise: promise)
            return
        }
        var buffer = unwrapOutboundIn(data)
        while buffer.readableBytes > pieceByteCount, let piece = buffer.readSlice(length: pieceByteCount) {
            // Flushed one by one: with TCP_NODELAY each becomes a segment of its own.
            context.writeAndFlush(wrapOutboundOut(piece), promise: nil)
        }
        context.write(wrapOutboundOut(buffer), promise: promise)
    }
}
