internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Drives one `HTTP2ClientSession` on its event loop: bytes in, results to the engine, the next requests out.
///
/// One cycle of reading brings many answers and starts as many requests, which leave in one write: each small write would
/// become a TLS record of its own.
final class APNsHandler: ChannelInboundHandler, HandOutHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How the connection's life stands.
    enum Phase {
        /// The service's SETTINGS have not come yet.
        case opening
        case open
        /// Nothing new goes out; what is open may still be answered.
        case draining(cause: String?)
        case ended
    }

    let configuration: APNsConnector.Configuration
    let tokens: ProviderTokenSource?
    let connection: APNsConnection
    let sink: ConnectionSink
    private let ready: EventLoopPromise<Int>

    var session: HTTP2ClientSession
    var events = HTTP2ClientEvents()
    var headers: RequestHeaders
    var phase = Phase.opening
    var context: ChannelHandlerContext?
    private var queue = HandOutQueue()
    private var block: [UInt8] = []
    /// What the last request was authorized with.
    var token: ProviderTokenSource.Token?
    /// What it was when the answers at hand were read.
    var tokenOfCycle: ProviderTokenSource.Token?
    /// Requests that were sent with a token that has since been replaced.
    var sentWithOldToken: Set<UInt64> = []
    var liveness: LivenessClock
    /// When a request was started last, or could not have been for want of one.
    private var lastStart = NIODeadline.now()
    private var timer: RepeatedTask?

    init(
        configuration: APNsConnector.Configuration, tokens: ProviderTokenSource?, connection: APNsConnection,
        sink: ConnectionSink, ready: EventLoopPromise<Int>
    ) {
        self.configuration = configuration
        self.tokens = tokens
        self.connection = connection
        self.sink = sink
        self.ready = ready
        var limits = HTTP2Limits.client
        limits.maxConcurrentStreams = configuration.maximumStreams
        session = HTTP2ClientSession(limits: limits)
        headers = RequestHeaders(
            authority: configuration.endpoint.authority, isCleartext: configuration.endpoint.isCleartext)
        liveness = LivenessClock(
            sendDeadline: configuration.sendDeadline, pingAfter: configuration.pingAfter,
            pingDeadline: configuration.pingDeadline)
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        write()
        liveness.start(at: .now())
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            handler.value.tick()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        session.receive(buffer.readableBytesUInt8Span, events: &events)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        liveness.heard(at: .now())
        report()
        pump()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { pump() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event, negotiated != "h2" {
            fail("\(configuration.endpoint) does not offer HTTP/2 (ALPN h2)", kind: .configuration)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Some peers close without TLS's own goodbye; the end of the connection says all there is to say.
        if case NIOSSLError.uncleanShutdown = error { return }
        ready.fail(error)
        end("\(error)")
    }

    func channelInactive(context: ChannelHandlerContext) { end("the service closed the connection") }

    // MARK: What the connection asks

    func wake() { pump() }

    /// Takes nothing more, waits for the answers to what is open, then ends.
    func close(deadline: Duration) {
        switch phase {
        case .ended: return
        case .opening, .open: drain(cause: nil)
        case .draining: break
        }
        guard case .draining = phase, let context else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: TimeAmount(deadline)) { handler.value.end(nil) }
    }

    // MARK: Requests out

    /// Starts as many requests as there are streams for.
    private func pump() {
        queue.append(connection.inbox.takeAll())
        guard case .open = phase else {
            if case .opening = phase {} else { returnQueue() }
            return write()
        }
        guard authorize() else { return }
        guard context?.channel.isWritable == true else { return write() }
        let canStart = session.takesRequest()
        while session.takesRequest(), let next = queue.first { start(next.handOut, next.item) }
        if canStart || queue.isEmpty { lastStart = .now() }
        write()
    }

    /// Starts the request for an item of a hand-out, the first in the queue.
    private func start(_ handOut: HandOut, _ item: Int) {
        let entries = handOut.entries
        let ticket = handOut.tickets[item]
        do throws(PackedNotification.Damage) {
            let fields = try entries.fields(at: item)
            block.removeAll(keepingCapacity: true)
            headers.append(fields, of: entries.bytes, to: &block)
            // Cannot be refused: takesRequest was asked just before.
            _ = session.startRequest(
                tag: ticket.rawValue, headerBlock: block, body: entries.bytes, bodyRange: fields.payload)
        } catch {
            sink(.results([(ticket, .notSent("the entry can't be read: \(error)"))]))
        }
        queue.removeFirst()
    }

    /// Has a provider token of the right age at hand.
    ///
    /// - Returns: whether requests may go out.
    private func authorize() -> Bool {
        guard let tokens else { return true }
        do throws(APNsConfigurationError) {
            let current = try tokens.current()
            if current != token { use(current) }
            return true
        } catch {
            fail(error.message, kind: .configuration)
            return false
        }
    }

    func use(_ current: ProviderTokenSource.Token) {
        token = current
        headers.setAuthorization(current.authorization)
    }

    func write() {
        guard let context, session.hasOutput else { return }
        var buffer = context.channel.allocator.buffer(capacity: session.output.count)
        session.drainOutput(into: &buffer)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    /// Gives back what has no stream yet: it was never sent.
    private func returnQueue() {
        let unsent = queue.removeAll()
        guard !unsent.isEmpty else { return }
        let result = SendResult(.neverProcessed(.newConnection), detail: "the connection is ending")
        sink(.results(unsent.map { ($0, result) }))
    }

    // MARK: The connection's life

    /// The service's SETTINGS have come, or changed.
    func settingsChanged(streams: Int, headerTable: Int) {
        headers.setPeerTableSize(headerTable)
        // As many again may wait here, so that an answer starts the next request without asking the engine.
        let capacity = 2 * max(min(streams, configuration.maximumStreams), 1)
        if case .opening = phase {
            phase = .open
            ready.succeed(capacity)
        } else {
            sink(.capacityChanged(capacity))
        }
    }

    /// From now on nothing new goes out on this connection.
    func drain(cause: String?) {
        switch phase {
        case .draining, .ended: return
        case .opening, .open: phase = .draining(cause: cause)
        }
        sink(.draining)
        queue.append(connection.inbox.takeAll())
        returnQueue()
        endIfDrained()
    }

    func endIfDrained() {
        guard case .draining(let cause) = phase, session.openStreams == 0 else { return }
        end(cause)
    }

    private func tick() {
        let now = NIODeadline.now()
        let late = session.openRequests(
            before: liveness.boundary(at: now, nextStreamID: session.nextRequestStreamID))
        for request in late { _ = session.cancel(streamID: request.streamID) }
        if !late.isEmpty {
            let result = SendResult.unknown("the service did not answer within \(configuration.sendDeadline)")
            sink(.results(late.map { (Ticket(rawValue: $0.tag), result) }))
        }
        switch liveness.check(at: now) {
        case .fine: break
        case .ping: session.ping(0x686f_6c64_6661_7374)
        case .dead: return end("the service has been silent: no answer to a PING within \(configuration.pingDeadline)")
        }
        // A service that allows no streams at all, and answers to PING, would hold what is queued for ever.
        // Streams that have just been freed by giving up their requests are tried first.
        if late.isEmpty, session.openStreams == 0, now - lastStart >= TimeAmount(configuration.sendDeadline) {
            return end("the service has taken no request for \(configuration.sendDeadline)")
        }
        if liveness.isMinuteTick { session.renewFrameBudget() }
        endIfDrained()
        pump()
    }

    func fail(_ message: String, kind: ConnectError.Kind) {
        ready.fail(ConnectError(kind, message))
        end(message)
    }

    /// The connection is over. What is open may have been taken; what has no stream was not sent.
    ///
    /// - Parameter cause: nil for an end that was asked for.
    func end(_ cause: String?) {
        if case .ended = phase { return }
        // Answers that came together with the end are answers.
        if !events.isEmpty { report() }
        if case .ended = phase { return }
        let wasOpening: Bool
        if case .opening = phase { wasOpening = true } else { wasOpening = false }
        phase = .ended
        timer?.cancel()
        ready.fail(ConnectError(.temporary, "\(configuration.endpoint): \(cause ?? "closed")"))
        if cause == nil || session.failure != nil {
            session.goAway()
            write()
        }
        let open = session.openTags.map(Ticket.init(rawValue:))
        _ = queue.removeAll()
        connection.inbox.unbind()
        context?.close(promise: nil)
        guard !wasOpening else { return }
        // What has no stream was not sent, and neither was what is on its way here at this moment.
        sink(.ended(ConnectionEnd(possiblySent: open, cause: cause)))
    }
}
