import HoldfastHTTP2
import NIOCore
import NIOSSL
import NIOTLS

/// What a server tells a connection, as an event through its pipeline.
enum MockCommand: Sendable {
    case drain(MockGoAway)
    case setMaxConcurrentStreams(Int)
}

/// One client's connection. Lives on one event loop.
///
/// Everything that one read brings is answered in one go at its end: first the ledger is written, then the answers.
final class MockConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// Waiting for TLS and the client's first SETTINGS.
        case opening
        case serving
        /// Told the client to go; answers what is left.
        case draining
        /// Our side is closed; what the client still sends is thrown away.
        case lingering
        case closed
    }

    let service: MockService
    let number: Int
    private let expectsTLS: Bool
    private var context: ChannelHandlerContext?
    private var output = ByteBuffer()
    private var events = HTTP2ServerEvents()
    private var limit: Scheduled<Void>?
    private var state = State.opening

    // What MockConnection+Requests.swift works on.
    var session: HTTP2ServerSession
    var tally = MockCounters()
    var ledgerLines: [UInt8] = []
    var exchanges: [MockExchange] = []
    var requestCount = 0
    var behavior: MockBehavior?
    /// Unix seconds at the beginning of this cycle.
    var now: Int64 = 0
    var id = NotificationIDText()
    var acceptedBlock: [UInt8]
    var lastAuthorization: (text: String, verdict: ProviderTokenVerifier.Verdict)?
    /// The client's HPACK decoder waits for a size update (RFC 7541 section 4.2).
    var owesSizeUpdate = false
    /// Requests from now on are not looked at.
    var isEnded = false
    /// How the connection ends with this cycle.
    var ending: MockAnswer.Ending?
    /// Streams that will never be answered, and need not be for the connection to be drained.
    var silenced: Set<UInt32> = []
    private var delayed = DelayedAnswers()

    /// How long the client may take to close its side after ours.
    private static let lingerLimit = TimeAmount.seconds(1)

    init(service: MockService, number: Int) {
        self.service = service
        self.number = number
        expectsTLS = !service.configuration.isCleartext
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = service.configuration.maxConcurrentStreams
        session = HTTP2ServerSession(limits: limits)
        acceptedBlock = Self.acceptedBlock(withID: service.configuration.echoesNotificationID)
    }

    // MARK: The channel's life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { channelActive(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        guard limit == nil, state == .opening else { return }
        tally.connections = 1
        tally.openConnections = 1
        publish()
        let patience = TimeAmount(service.configuration.handshakeLimit)
        limit = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { self.giveUpOpening() }
        if !expectsTLS { flush() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        limit?.cancel()
        if state == .opening { tally.handshakesFailed += 1 }
        state = .closed
        delayed.removeAll()
        tally.openConnections -= 1
        publish()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiatedProtocol):
            if negotiatedProtocol == "h2" { flush() } else { context.close(promise: nil) }
        case MockCommand.drain(let goAway):
            drain(goAway)
            finishCycle()
        case MockCommand.setMaxConcurrentStreams(let count):
            session.changeSettings(maxConcurrentStreams: count)
            finishCycle()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// A client that speaks no TLS, breaks off or resets costs a connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// A client that does not take its answers is not read from either.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    private func giveUpOpening() {
        if state == .opening { context?.close(promise: nil) }
    }

    // MARK: One cycle

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard state != .lingering, state != .closed else { return }
        beginCycle()
        session.receive(buffer.readableBytesUInt8Span, events: &events)
        takeEvents()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        finishCycle()
        context.fireChannelReadComplete()
    }

    private func beginCycle() {
        now = MockService.milliseconds() / 1000
        behavior = service.behavior.withLock { $0 }
    }

    private func takeEvents() {
        guard !events.isEmpty else { return }
        for event in events.others { take(event) }
        for index in events.requests.indices { handle(events.requests[index], bodies: events.bodies) }
        events.removeAll()
    }

    private func take(_ event: HTTP2ServerEvents.Event) {
        switch event {
        case .settingsChanged(let headerTableSize):
            if headerTableSize < 4096 { owesSizeUpdate = true }
            guard state == .opening else { return }
            limit?.cancel()
            state = .serving
        case .connectionError:
            tally.protocolErrors += 1
            ending = .close
        case .reset(let streamID, _, _):
            silenced.remove(streamID)
        case .goAway, .settingsAcknowledged, .pong:
            break
        }
    }

    /// The ledger, then the answers, then whatever ends the connection, then the books.
    private func finishCycle() {
        guard state != .lingering, state != .closed else { return }
        guard writeLedger() else { return }
        if case .goAwayAndClose(let goAway)? = ending { announce(goAway) }
        if case .goAwayAndDrain(let goAway)? = ending {
            ending = nil
            drain(goAway)
        }
        if state == .draining, delayed.isEmpty, silenced.count >= session.openStreams { ending = .close }
        flush()
        if ending != nil { closeOutput() }
        publish()
    }

    /// Whoever sees a 200 may rely on the line being in the file.
    private func writeLedger() -> Bool {
        guard !ledgerLines.isEmpty, let ledger = service.ledger else { return true }
        do {
            try ledger.append(ledgerLines)
            ledgerLines.removeAll(keepingCapacity: true)
            return true
        } catch {
            tally.ledgerFailures += 1
            _ = session.takeOutput()
            state = .closed
            context?.close(promise: nil)
            return false
        }
    }

    private func flush() {
        guard session.hasOutput, let context else { return }
        output.clear()
        session.drainOutput(into: &output)
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    private func publish() {
        let tally = tally
        self.tally = MockCounters()
        service.counters.withLock { $0.add(tally) }
        guard !exchanges.isEmpty else { return }
        service.configuration.observer?(exchanges)
        exchanges.removeAll(keepingCapacity: true)
    }

    // MARK: Ends

    private func announce(_ goAway: MockGoAway) {
        session.goAway(
            lastStreamID: goAway.lastStreamID, code: HTTP2ErrorCode(rawValue: goAway.code),
            debugData: Array(goAway.debugData.utf8))
    }

    private func drain(_ goAway: MockGoAway) {
        guard state == .opening || state == .serving else { return }
        announce(goAway)
        state = .draining
    }

    /// Closes our side first: closing both with bytes unread would make the kernel send a reset, which can overtake the
    /// answers on their way.
    private func closeOutput() {
        guard let context, state != .closed else { return }
        state = .lingering
        delayed.removeAll()
        limit?.cancel()
        limit = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerLimit) {
            self.context?.close(promise: nil)
        }
        context.close(mode: .output, promise: nil)
    }

    // MARK: Answers

    /// Gives an answer now, or when its time has come.
    func give(_ answer: PreparedAnswer, after delay: Duration) {
        guard delay > .zero, let context else { return give(answer) }
        guard let (key, due) = delayed.insert(answer, after: delay, now: .now()) else { return }
        context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.giveDelayed(key) }
    }

    private func giveDelayed(_ key: Int64) {
        guard state != .lingering, state != .closed else { return }
        for answer in delayed.remove(key) where ending == nil { give(answer) }
        finishCycle()
    }

    private func give(_ answer: PreparedAnswer) {
        answer.write(to: &session)
        if case .silence = answer.content, session.isOpen(answer.streamID) { silenced.insert(answer.streamID) }
        if let ending = answer.ending { self.ending = ending }
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        self = .nanoseconds(Int64(clamping: duration / .nanoseconds(1)))
    }
}

extension Int64 {
    /// The nearest that fits.
    init(clamping value: Double) {
        self = value >= 9.2e18 ? .max : value <= -9.2e18 ? .min : Int64(value)
    }
}
