internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose other side is too slow: over a request, over reading its answer, or between the two. Each time
/// one timer, whatever trickles in.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Finish what is under way and close; past the limit close without.
    struct Drain: Sendable {
        var limit: TimeAmount
    }

    /// Between an answer and the next request.
    private let idleLimit: TimeAmount
    /// For one request to come, or an answer to be taken.
    private let messageLimit: TimeAmount
    /// Requests of which the head has come, and that the kernel has no answer to.
    private var owed = 0
    /// A request has begun, and is not complete yet.
    private var isReceiving = false
    /// An answer has begun, and is not with the kernel yet.
    private var isAnswering = false
    /// This answer is the last: nothing more is read behind it.
    private var isLast = false
    /// The last answer has left, or there was no understanding what came.
    private var isOver = false
    private var isDraining = false
    private var timer: Scheduled<Void>?
    private var drainTimer: Scheduled<Void>?

    init(idleLimit: TimeAmount, messageLimit: TimeAmount) {
        self.idleLimit = idleLimit
        self.messageLimit = messageLimit
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    private func stop() {
        timer?.cancel()
        drainTimer?.cancel()
    }

    // MARK: What comes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head:
            owed += 1
            isReceiving = true
            if owed == 1 { arm(context, messageLimit) }
        case .body: break
        case .end:
            isReceiving = false
            // Where it was answered before it ended, it is over; else the desk has it from here on.
            if owed == 0 { arm(context, idleLimit) } else if owed == 1, !isAnswering { timer?.cancel() }
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is FirstBytes.Came:
            guard owed == 0, !isReceiving, !isOver else { return }
            isReceiving = true
            arm(context, messageLimit)
        case let drain as Drain:
            isDraining = true
            guard owed > 0 else { return context.close(promise: nil) }
            let isolated = context.loopBound
            drainTimer = context.eventLoop.assumeIsolated().scheduleTask(in: drain.limit) {
                isolated.value.close(promise: nil)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// It is answered with what it deserves, and has as long to read that.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        isOver = true
        arm(context, messageLimit)
        context.fireErrorCaught(error)
    }

    // MARK: What goes

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            isAnswering = true
            if isDraining { head.headerFields[.connection] = "close" }
            isLast = head.headerFields[.connection] == "close"
            arm(context, messageLimit)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let isolated = context.loopBound
            written.futureResult.assumeIsolated().whenSuccess { self.answered(isolated.value) }
            context.write(data, promise: written)
        }
    }

    /// The kernel has an answer.
    private func answered(_ context: ChannelHandlerContext) {
        timer?.cancel()
        isAnswering = false
        owed = max(0, owed - 1)
        if isLast || isOver {
            // Not closed at once: what the client has said behind it would take the answer away from it.
            isOver = true
            context.close(mode: .output, promise: nil)
            return arm(context, messageLimit)
        }
        if isDraining, owed == 0 { return context.close(promise: nil) }
        if isReceiving { return arm(context, messageLimit) }
        if owed == 0 { arm(context, idleLimit) }
    }

    private func arm(_ context: ChannelHandlerContext, _ limit: TimeAmount) {
        timer?.cancel()
        let isolated = context.loopBound
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { isolated.value.close(promise: nil) }
    }
}
