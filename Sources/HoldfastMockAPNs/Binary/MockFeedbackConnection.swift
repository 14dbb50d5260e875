import HoldfastMocking
import NIOCore
import NIOTLS

/// One client's connection to a ``MockFeedbackServer``. Lives on one event loop.
final class MockFeedbackConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let service: MockFeedbackService
    private let wire: MockWire
    private var context: ChannelHandlerContext?
    private var behavior = MockFeedbackBehavior.normal
    private var isActive = false
    private var isServing = false
    private var isHeld = false
    private var timer: Scheduled<Void>?

    /// The time a client has to close its side after ours.
    private static let lingerLimit = Duration.seconds(1)
    /// The most bytes that TLS and the socket hold at a time.
    private static let chunkByteCount = 64 << 10

    init(service: MockFeedbackService, wire: MockWire) {
        self.service = service
        self.wire = wire
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { channelActive(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        guard !isActive else { return }
        isActive = true
        behavior = service.state.withLock { state in
            state.counters.connections += 1
            state.counters.openConnections += 1
            return state.behavior
        }
        if behavior.refusesConnections {
            wire.reset()
        } else if service.configuration.isCleartext {
            serve()
        } else {
            schedule(service.configuration.handshakeLimit) { connection in connection.wire.close() }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        if isActive { service.state.withLock { $0.counters.openConnections -= 1 } }
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted: serve()
        case MockBinaryCommand.drain: if isHeld || !isServing { wire.close() }
        case MockBinaryCommand.abort: wire.reset()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        wire.close()
    }

    // MARK: Serving

    private func serve() {
        guard !isServing, isActive else { return }
        timer?.cancel()
        isServing = true
        let tuples = service.state.withLock { $0.take() }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(tuples.reduce(0) { $0 + 6 + $1.token.count })
        for tuple in tuples {
            bytes.writeInteger(tuple.time)
            bytes.writeInteger(UInt16(tuple.token.count))
            bytes.writeBytes(tuple.token)
        }
        write(bytes)
    }

    /// Writes piece by piece, each once the kernel has the one before: a reset would throw away the rest.
    private func write(_ bytes: ByteBuffer) {
        guard let context else { return }
        var rest = bytes
        let count = min(behavior.pieceByteCount ?? Self.chunkByteCount, rest.readableBytes)
        guard count > 0, let piece = rest.readSlice(length: count) else { return end() }
        let left = rest
        context.writeAndFlush(wrapOutboundOut(piece)).assumeIsolated().whenComplete { result in
            guard case .success = result else { return self.wire.close() }
            if self.behavior.pause > .zero, left.readableBytes > 0 {
                self.schedule(self.behavior.pause) { connection in connection.write(left) }
            } else {
                self.write(left)
            }
        }
    }

    private func end() {
        switch behavior.ending {
        case .close: closeOutput()
        case .reset where behavior.pause > .zero: schedule(behavior.pause) { connection in connection.wire.reset() }
        case .reset: wire.reset()
        case .hold(let duration):
            isHeld = true
            if let duration { schedule(duration) { connection in connection.closeOutput() } }
        }
    }

    private func closeOutput() {
        isHeld = false
        schedule(Self.lingerLimit) { connection in connection.wire.close() }
        context?.close(mode: .output, promise: nil)
    }

    private func schedule(_ delay: Duration, _ action: @escaping (MockFeedbackConnection) -> Void) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { action(self) }
    }
}
