import HoldfastHTTP2
package import NIOCore
import NIOSSL
import NIOTLS

/// A command of a server to a connection, sent as an event through its pipeline.
package enum MockCommand: Sendable {
    case drain(MockGoAway)
    case setMaxConcurrentStreams(Int)
}

/// One client's connection. Lives on one event loop.
///
/// Answers everything of one read at its end: first the ledger is written, then the answers.
package final class MockConnection<Service: MockServing, Responder: MockResponding>: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum State {
        /// Waiting for TLS and the client's first SETTINGS.
        case opening
        /// The client speaks no HTTP/2; bytes that came right behind its handshake are not looked at.
        case refused
        case serving
        /// Our side is closed; the client's further bytes are thrown away.
        case lingering
        /// Kept open: nothing is looked at, nothing written.
        case stalled
        case closed
    }

    private let service: Service
    private let plan: MockConnectionPlan
    private let wire: MockWire
    private let expectsTLS: Bool
    private var responder: Responder
    private var context: ChannelHandlerContext?
    private var output = ByteBuffer()
    private var state = State.opening
    /// The timeout, first of the handshake, then of the client's close.
    private var limit: Scheduled<Void>?
    /// Whether our first SETTINGS may go out.
    private var mayWrite = false

    /// The time a client has to close its side after ours.
    private static var lingerLimit: TimeAmount { .seconds(1) }

    init(service: Service, responder: Responder, plan: MockConnectionPlan, wire: MockWire) {
        self.service = service
        self.responder = responder
        self.plan = plan
        self.wire = wire
        expectsTLS = !service.isCleartext
    }

    // MARK: The channel's life

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { channelActive(context: context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    package func channelActive(context: ChannelHandlerContext) {
        guard limit == nil, state == .opening else { return }
        service.count(.opened)
        // A handshake that must not succeed takes as long as the client likes.
        if plan.tls == .normal { close(after: TimeAmount(service.handshakeLimit)) }
        if !expectsTLS { begin() }
    }

    /// Sends our SETTINGS at their time, once TLS is up or where there is none.
    private func begin() {
        switch plan.settings {
        case .atOnce:
            mayWrite = true
            flush()
        case .delayed(let delay):
            context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
                self.mayWrite = true
                self.finishCycle()
            }
        case .never:
            stall()
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        limit?.cancel()
        let wasOpening = state == .opening || state == .refused
        state = .closed
        responder.stage.delayed.removeAll()
        responder.publish()
        service.count(.closed(neverReady: wasOpening))
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiatedProtocol):
            // Without ALPN the preface tells, as at Apple's; only a script's `no-alpn` ends such a connection.
            let isServed = negotiatedProtocol.map { $0 == "h2" } ?? (plan.tls != .withoutALPN)
            guard !isServed else { return begin() }
            state = .refused
            context.close(promise: nil)
        case MockCommand.drain(let goAway):
            // It would not hear TLS's close_notify either.
            guard state != .stalled, plan.tls != .stalled else { return wire.close() }
            responder.stage.drain(goAway)
            finishCycle()
        case MockCommand.setMaxConcurrentStreams(let count):
            responder.stage.session.changeSettings(maxConcurrentStreams: count)
            finishCycle()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// A client that speaks no TLS, breaks off or resets costs only its connection.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Stops reading from a client that does not read its answers.
    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard state != .stalled else { return }
        do {
            try context.channel.syncOptions?.setOption(.autoRead, value: context.channel.isWritable)
        } catch {
            context.close(promise: nil)
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: One cycle

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isReading else { return }
        let buffer = unwrapInboundIn(data)
        responder.receive(buffer.readableBytesUInt8Span)
        if state == .opening, responder.stage.isOpen {
            limit?.cancel()
            state = .serving
            for effect in plan.then { responder.stage.happen(effect) }
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        finishCycle()
        context.fireChannelReadComplete()
    }

    private var isReading: Bool { state == .opening || state == .serving }

    /// Writes the ledger, then the counters, then the answers, then the connection's end: a client with an answer finds
    /// its request in the ledger and in the counters.
    private func finishCycle() {
        guard isReading, writeLedger() else { return }
        let end = responder.stage.finish()
        setTimers()
        responder.publish()
        flush()
        switch end {
        case .closed?: closeOutput()
        case .reset?: wire.reset()
        case .ignored?: stall()
        case .unread?: stall(isReading: false)
        case nil: break
        }
    }

    /// Writes nothing more. Delayed answers are not given.
    private func stall(isReading: Bool = true) {
        limit?.cancel()
        state = .stalled
        responder.stage.delayed.removeAll()
        guard !isReading, let context else { return }
        do { try context.channel.syncOptions?.setOption(.autoRead, value: false) } catch { context.close(promise: nil) }
    }

    /// - Returns: false when it could not be written; then no answer may go out.
    private func writeLedger() -> Bool {
        guard !responder.ledgerLines.isEmpty, let ledger = service.ledger else { return true }
        do {
            try ledger.append(responder.ledgerLines)
            responder.ledgerLines.removeAll(keepingCapacity: true)
            return true
        } catch {
            responder.ledgerFailed()
            state = .closed
            responder.publish()
            context?.close(promise: nil)
            return false
        }
    }

    private func setTimers() {
        guard let context else { return }
        for effect in responder.stage.takeLaterEffects() {
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(effect.delay)) {
                guard self.isReading else { return }
                self.responder.stage.happen(MockEffect(effect.kind))
                self.finishCycle()
            }
        }
        guard !responder.stage.delayed.isEmpty else { return }
        for bucket in responder.stage.delayed.takeNewBuckets() {
            context.eventLoop.assumeIsolated().scheduleTask(deadline: bucket.due) {
                guard self.isReading else { return }
                self.responder.stage.giveDelayed(bucket.key)
                self.finishCycle()
            }
        }
    }

    private func flush() {
        guard mayWrite, responder.stage.session.hasOutput, let context else { return }
        output.clear()
        responder.stage.session.drainOutput(into: &output)
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    // MARK: Ends

    /// Closes our side first: closing both with bytes unread would make the kernel send a reset, which can overtake the
    /// answers on their way.
    private func closeOutput() {
        guard let context else { return }
        state = .lingering
        responder.stage.delayed.removeAll()
        close(after: Self.lingerLimit)
        context.close(mode: .output, promise: nil)
    }

    private func close(after patience: TimeAmount) {
        limit?.cancel()
        limit = context?.eventLoop.assumeIsolated().scheduleTask(in: patience) { self.context?.close(promise: nil) }
    }
}

extension Int64 {
    /// Clamps to the nearest value that fits.
    init(clamping value: Double) {
        self = value >= 9.2e18 ? .max : value <= -9.2e18 ? .min : Int64(value)
    }
}
