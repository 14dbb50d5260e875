internal import Dispatch
internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport
internal import NIOCore
internal import NIOHTTP1
internal import NIOTLS

/// Sent to each connection of a listener when a configuration has been taken up.
struct HTTP2IngressReload: Sendable {}

/// One client's connection: performs the decisions of its ``HTTP2IngressSession``. Lives on one event loop.
///
/// All requests of one read are one submission, and all answers of one commit are one write.
final class HTTP2IngressConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Waiting for TLS and the client's first SETTINGS.
        case opening
        case serving
        /// Our side is closed; the client's further bytes are thrown away.
        case lingering
        case closed
    }

    let service: HTTP2IngressService
    var session: HTTP2IngressSession
    private var clock: ConnectionClock
    private(set) var context: ChannelHandlerContext?
    private(set) var bound: NIOLoopBound<HTTP2IngressConnection>?
    /// Present once a request has waited for its outcome.
    var outcomes: AwaitedOutcomes?
    private var state = State.opening
    private var isSecure: Bool
    /// Whether the listener's list counts it among those with credentials.
    private var isProven = false
    private var output = ByteBuffer()
    private var timer: Scheduled<Void>?

    /// Batches that were handed over to be packed and are not answered yet.
    private var handedOver = 0

    /// The bytes of this connection in ``BegunRequests``.
    private var begunByteCount = 0

    /// The least notifications of a batch that is worth a hand-over.
    private static let handOverCount = 32

    /// The time a client has to close its side after ours.
    private static let lingerLimit = TimeAmount.seconds(1)

    init(service: HTTP2IngressService) {
        self.service = service
        let settings = service.settings
        isSecure = !service.isSecure
        session = HTTP2IngressSession(settings)
        clock = ConnectionClock(settings.limits, isStranger: session.isStranger, now: .now())
    }

    // MARK: The channel's life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        if context.channel.isActive { channelActive(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        bound = nil
        timer?.cancel()
        outcomes?.timer?.cancel()
        outcomes = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        guard timer == nil, state == .opening else { return }
        setTimer()
        if isSecure { flush() }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        state = .closed
        session.abandon()
        lookAtOutcomes()
        count(begun: 0)
        publish()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiatedProtocol):
            secured(by: negotiatedProtocol, context)
        case is Listener.Drain:
            guard isReading else { return }
            // Without TLS there is nothing to answer.
            guard isSecure else { return cut(fault: nil) }
            session.drain()
            finishCycle()
        case is Listener.CutOff:
            guard isReading else { return }
            if isSecure { session.close(nil) }
            publish()
            flush()
            state = .closed
        case is ClientGate.JudgeChanged:
            lookAtCertificate(context)
        case is HTTP2IngressReload:
            let settings = service.settings
            session.change(to: settings)
            clock.limits = settings.limits
            lookAtProof()
            setTimer()
            finishCycle()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Sends our SETTINGS: TLS is up.
    private func secured(by negotiatedProtocol: String?, _ context: ChannelHandlerContext) {
        // Some clients (aioapns) offer no protocol at all; Apple serves them, and so do we: the preface tells the
        // protocol.
        guard ProtocolChoice.protocols.contains(negotiatedProtocol ?? "h2") else { return end(fault: .alpn) }
        isSecure = true
        lookAtCertificate(context)
        flush()
    }

    private func lookAtCertificate(_ context: ChannelHandlerContext) {
        guard let client = ClientGate.client(in: context.pipeline) else { return }
        session.know(client)
        lookAtProof()
    }

    /// A client that speaks no TLS, breaks off or resets costs only its connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError { return end(fault: .protocol) }
        end(fault: state == .opening && service.isSecure ? .tls : nil)
    }

    /// A client that does not take its answers is not read from either.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        do {
            try context.channel.syncOptions?.setOption(.autoRead, value: context.channel.isWritable)
        } catch {
            end(fault: nil)
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: One cycle

    var isReading: Bool { state == .opening || state == .serving }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isReading, isSecure else { return }
        let bytes = unwrapInboundIn(data)
        session.receive(bytes.readableBytesUInt8Span, now: EngineClock.system.wall())
        if state == .opening, session.isOpen {
            state = .serving
            clock.spoke()
        }
        lookAtProof()
    }

    /// The client may have shown credentials, or has to show others.
    private func lookAtProof() {
        if session.isStranger != clock.isStranger {
            if session.isStranger { clock.doubted(at: .now()) } else { clock.proved() }
        }
        guard session.hasProof != isProven, let context else { return }
        isProven = session.hasProof
        if isProven { service.guests.proved(context.channel) } else { service.guests.doubted(context.channel) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        clock.heard(at: .now())
        finishCycle()
        context.fireChannelReadComplete()
    }

    func finishCycle() {
        guard isReading else { return }
        for (its, notification) in session.takeChecks() {
            session.checked(its, service.producer.refusal(of: notification))
        }
        submit()
        lookAtOutcomes()
        if count(begun: session.begunByteCount) {
            session.shed()
            count(begun: 0)
        }
        session.settle()
        if session.heldBack > 0 || clock.isHolding { clock.held(session.heldBack, sent: session.heldSent, at: .now()) }
        publish()
        flush()
        if session.isOver { closeOutput() }
    }

    private func submit() {
        guard session.batchCount > 0, let bound, let context else { return }
        let (own, ownPause) = session.clientRate?.take(session.batchCount) ?? (session.batchCount, 0)
        let (granted, pause) = service.rate.take(own)
        let retryAfter = granted < own ? pause : ownPause
        let batch = session.takeBatch(granted: granted, retryAfter: retryAfter)
        guard !batch.notifications.isEmpty else { return }
        let loop = context.eventLoop
        let waiting = batch.waiting
        let (producers, names) = (service.producers, batch.producers)
        let spans = service.tracer.map { RequestSpans($0, batch, isSecure: service.isSecure) }
        let notifications = spans?.notifications ?? batch.notifications
        // A few are packed sooner than handed over; but none overtakes earlier ones. A new name takes a commit.
        let isHandedOver = waiting.count >= Self.handOverCount || handedOver > 0 || !names.isEmpty
        // Before they are submitted: one may end before this loop knows its UID.
        let watch = batch.waitCount > 0 ? OutcomeWatch(service.outcomes()) : nil
        let submit = { @Sendable in
            producers.submit(notifications, as: names) { receipts, repeats in
                spans?.end(receipts)
                loop.execute { bound.value.committed(waiting, receipts, repeats, watch, wereHandedOver: isHandedOver) }
            }
        }
        guard isHandedOver else { return submit() }
        handedOver += 1
        service.packing.async(execute: submit)
    }

    private func committed(
        _ waiting: [HTTP2IngressSession.Waiting], _ receipts: [Receipt], _ repeats: Int,
        _ watch: OutcomeWatch?, wereHandedOver: Bool
    ) {
        if wereHandedOver { handedOver -= 1 }
        defer { watch?.end() }
        guard isReading else { return }
        answer(waiting, receipts, repeats, watch)
        finishCycle()
    }

    private func flush() {
        guard isSecure, session.hasOutput, let context, let bound else { return }
        output.clear()
        session.drainOutput(into: &output)
        clock.wrote(at: .now())
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in bound.value.clock.written(at: .now()) }
        context.writeAndFlush(wrapOutboundOut(output), promise: written)
    }

    /// - Returns: whether it is more than this connection may have.
    @discardableResult
    private func count(begun byteCount: Int) -> Bool {
        guard byteCount != begunByteCount else { return false }
        defer { begunByteCount = byteCount }
        return service.begun.change(from: begunByteCount, to: byteCount)
    }

    private func publish() {
        if let tally = session.takeTally() { service.figures.add(tally) }
        for (line, words) in session.takeTroubles() { service.log(line, words, peer: context?.channel.remoteAddress) }
    }

    // MARK: Time

    private func setTimer() {
        timer?.cancel()
        guard isReading, let context, let bound else { return }
        timer = context.eventLoop.scheduleTask(deadline: clock.next(after: .now())) { bound.value.timePassed() }
    }

    private func timePassed() {
        guard isReading else { return }
        let now = NIODeadline.now()
        switch clock.verdict(at: now, isOwed: session.outstanding + session.waitCount > 0) {
        case .goOn: break
        case .sweep:
            clock.swept(at: now, taken: takenOfPending)
            session.sweep()
        case .close(let what) where what == .idle || what == .unproven:
            session.close(what)
        case .close(let what):
            return cut(fault: what)
        }
        setTimer()
        finishCycle()
    }

    /// The bytes that the client's kernel has taken; nil where it has taken everything.
    private var takenOfPending: UInt64? {
        guard let context, let info = TCPInfo.read(context.channel), !info.isDrained else { return nil }
        return info.rawBytesAcknowledged
    }

    // MARK: Ends

    /// Closes without a word of HTTP/2.
    private func end(fault: ListenerFault?) {
        if let fault { session.countFault(fault) }
        publish()
        // TLS errors at the end are no fault of their own.
        state = .closed
        context?.close(promise: nil)
    }

    /// Closes at once: the client takes nothing, or has had its time.
    private func cut(fault: ListenerFault?) {
        if let fault { session.countFault(fault) }
        publish()
        state = .closed
        context?.channel.cut()
    }

    /// Closes our side first: closing both with bytes unread would make the kernel send a reset, which can overtake the
    /// answers on their way.
    private func closeOutput() {
        guard let context, let bound else { return }
        state = .lingering
        linger(for: TimeAmount(clock.limits.write))
        let closed = context.eventLoop.makePromise(of: Void.self)
        closed.futureResult.whenComplete { _ in bound.value.linger(for: Self.lingerLimit) }
        context.close(mode: .output, promise: closed)
    }

    private func linger(for limit: TimeAmount) {
        timer?.cancel()
        guard state == .lingering, let context, let bound else { return }
        timer = context.eventLoop.scheduleTask(in: limit) { bound.value.context?.channel.cut() }
    }
}
