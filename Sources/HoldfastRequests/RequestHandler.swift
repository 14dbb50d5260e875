internal import Holdfast
package import HoldfastTransport
package import NIOCore
internal import NIOSSL
internal import NIOTLS

/// The source of a connection's requests, which also receives their results. Called on the event loop.
package protocol RequestOwner<Batch, Result>: AnyObject {
    associatedtype Batch: TicketBatch
    associatedtype Result: RequestResult

    /// The requests handed over since the last call.
    func takeAll() -> [Batch]

    /// Performs an action. ``RequestAction/close`` is done already.
    func perform(_ action: RequestAction<Result>)

    /// The connection has come to nothing by an error of the channel. ``RequestAction/failed(_:)`` follows.
    func failed(_ error: any Error)

    /// The channel has closed, and the owner may let go of the handler. A channel that was never active, or whose last
    /// event came before the handler, tells it nothing else.
    func handlerRemoved()
}

/// Performs on a channel what a ``RequestSession`` says, on its event loop.
///
/// One cycle of reading brings many answers and starts as many requests, which leave in one write: each small write would
/// become a TLS record of its own.
package final class RequestHandler<Dialect: RequestDialect>: ChannelInboundHandler, HandOutHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private var session: RequestSession<Dialect>
    private let owner: any RequestOwner<Dialect.Batch, Dialect.Result>
    private let endpoint: String
    private var context: ChannelHandlerContext?
    private var timer: (at: Duration, task: Scheduled<Void>)?

    package init(
        _ dialect: Dialect, _ settings: RequestSettings, owner: any RequestOwner<Dialect.Batch, Dialect.Result>
    ) {
        session = RequestSession(dialect, settings, at: .onLoop)
        endpoint = settings.endpoint
        self.owner = owner
    }

    // MARK: What its owner asks of it

    package func wake() { step { $0.pump(at: $1) } }

    package func close(deadline: Duration) { step { $0.close(deadline: deadline, at: $1) } }

    package func retire() { step { $0.retire(at: $1) } }

    package func giveUp(_ why: String) { step { $0.giveUp(why, at: $1) } }

    // MARK: The channel's events

    /// Behind a proxy the channel is active before there is anybody to talk to.
    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { step { $0.begin(at: $1) } }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        owner.handlerRemoved()
    }

    package func channelActive(context: ChannelHandlerContext) { step { $0.begin(at: $1) } }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        session.receive(buffer.readableBytesUInt8Span)
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        let now = Moment.onLoop
        session.enqueue(owner.takeAll())
        session.finishReading(at: now)
        // The engine works on the answers while the next requests are written.
        performActions()
        session.enqueue(owner.takeAll())
        session.pump(at: now)
        perform()
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        step {
            $0.setWritable(isWritable)
            $0.pump(at: $1)
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event, negotiated != "h2" {
            let message = "\(endpoint) does not offer HTTP/2 (ALPN h2)"
            let advice =
                "see to host and port of the endpoint: a push service speaks HTTP/2, and what listens there does not"
            step { $0.fail(ConnectError(.configuration, message, advice: advice), at: $1) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Some peers close without TLS's own goodbye; the end of the connection says all there is to say.
        if case NIOSSLError.uncleanShutdown = error { return }
        owner.failed(error)
        step { $0.lose(Dialer.cause(error), at: $1) }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        step { $0.lose("the service closed the connection", at: $1) }
    }

    // MARK: Effects

    private func step(_ input: (inout RequestSession<Dialect>, Moment) -> Void) {
        session.enqueue(owner.takeAll())
        input(&session, .onLoop)
        perform()
    }

    private func perform() {
        performActions()
        write()
        schedule()
    }

    private func performActions() {
        for action in session.takeActions() {
            guard case .close = action else {
                owner.perform(action)
                continue
            }
            write()
            context?.close(promise: nil)
        }
    }

    private func write() {
        guard let context, session.hasOutput else { return }
        var buffer = context.channel.allocator.buffer(capacity: session.outputCount)
        session.drainOutput(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// The session is looked at when it wants to be.
    private func schedule() {
        let next = session.nextLook
        guard next != timer?.at else { return }
        timer?.task.cancel()
        timer = nil
        guard let next, let context else { return }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: NIODeadline(next)) {
            self.timer = nil
            self.step { $0.look(at: $1) }
        }
        timer = (next, task)
    }
}
