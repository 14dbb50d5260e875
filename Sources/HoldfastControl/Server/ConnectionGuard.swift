internal import NIOCore

/// Closes a connection whose other side is too slow, and tells it what was wrong with what cannot be understood.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ControlMessage
    typealias InboundOut = ControlMessage
    typealias OutboundIn = ControlMessage
    typealias OutboundOut = ControlMessage

    /// Finish what is under way and close; past the limit close without.
    struct Drain: Sendable {
        var limit: TimeAmount
    }

    /// Between one message and the next.
    private let idleLimit: TimeAmount
    /// For one message to come, or to be taken.
    private let messageLimit: TimeAmount
    /// Messages that wait for their answer. The first that is owed is the greeting.
    private var owed = 1
    private var isAmidMessage = false
    private var isDraining = false
    private var timer: Scheduled<Void>?
    private var drainTimer: Scheduled<Void>?

    init(idleLimit: TimeAmount, messageLimit: TimeAmount) {
        self.idleLimit = idleLimit
        self.messageLimit = messageLimit
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        drainTimer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        owed += 1
        isAmidMessage = false
        timer?.cancel()
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is MessageHandler.Began:
            isAmidMessage = true
            if owed == 0 { arm(context, messageLimit) }
        case let drain as Drain:
            isDraining = true
            guard owed > 0 else { return context.close(promise: nil) }
            drainTimer = context.eventLoop.assumeIsolated().scheduleTask(in: drain.limit) {
                context.close(promise: nil)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.answered(context) }
        arm(context, messageLimit)
        context.write(data, promise: written)
    }

    /// The kernel has an answer.
    private func answered(_ context: ChannelHandlerContext) {
        timer?.cancel()
        owed -= 1
        guard owed == 0 else { return }
        if isDraining { return context.close(promise: nil) }
        arm(context, isAmidMessage ? messageLimit : idleLimit)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        timer?.cancel()
        guard error is ControlError else { return context.close(promise: nil) }
        owed += 1
        isDraining = true
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        arm(context, messageLimit)
        context.writeAndFlush(wrapOutboundOut(ControlMessage(failure: error)), promise: written)
    }

    private func arm(_ context: ChannelHandlerContext, _ limit: TimeAmount) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { context.close(promise: nil) }
    }
}
