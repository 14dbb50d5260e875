internal import NIOCore

/// A request on its way, and where its answer goes.
struct Call: Sendable {
    let message: ControlMessage
    let answer: EventLoopPromise<ControlMessage>
    let limit: TimeAmount
}

/// Gives each call its answer: they come in the order of the calls.
final class CallHandler: ChannelDuplexHandler {
    typealias InboundIn = ControlMessage
    typealias InboundOut = Never
    typealias OutboundIn = Call
    typealias OutboundOut = ControlMessage

    private var greeting: EventLoopPromise<ControlMessage>?
    private var calls: [(call: Call, timer: Scheduled<Void>)] = []
    private var end: ControlError?

    /// - Parameter greeting: gets the owner's first message.
    init(greeting: EventLoopPromise<ControlMessage>) { self.greeting = greeting }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let call = unwrapOutboundIn(data)
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: call.limit) {
            let late = ControlError(
                .timedOut, "the owner did not answer within \(call.limit); what was asked for may be done or not")
            self.finish(context, late)
        }
        calls.append((call, timer))
        context.write(wrapOutboundOut(call.message), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let message = unwrapInboundIn(data)
        if let greeting {
            self.greeting = nil
            return greeting.succeed(message)
        }
        guard !calls.isEmpty else {
            // The owner's last word, mostly: why it closes.
            do {
                _ = try message.answer()
            } catch {
                end = error as? ControlError
            }
            return context.close(promise: nil)
        }
        let (call, timer) = calls.removeFirst()
        timer.cancel()
        call.answer.succeed(message)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(context, error as? ControlError ?? Self.lost)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(context, end ?? Self.lost)
        context.fireChannelInactive()
    }

    private static var lost: ControlError {
        ControlError(
            .disconnected,
            "the journal's owner has gone, or closed the connection; what was asked for last may be done or not: ask again "
                + "when it is back")
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(context, end ?? ControlError(.disconnected, "the connection is closed"))
    }

    private func finish(_ context: ChannelHandlerContext, _ error: ControlError) {
        let ended = calls
        calls = []
        greeting?.fail(error)
        greeting = nil
        for (call, timer) in ended {
            timer.cancel()
            call.answer.fail(error)
        }
        context.close(promise: nil)
    }
}
