internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastHTTP2
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Drives one `HTTP2ClientSession` on its event loop, with one request at a time.
final class ManagementHandler: ChannelInboundHandler, SendableMetatype {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The request that is open.
    private struct Open {
        let promise: EventLoopPromise<ChannelAttempts.Ending>
        let deadline: Scheduled<Void>
    }

    private let endpoint: APNsEndpoint
    private let credentials: Credentials
    /// Until the service's SETTINGS have come, or never will.
    private var ready: EventLoopPromise<ManagementConnection>?
    private let isOver = Monitor(false)
    private var session: HTTP2ClientSession
    private var events = HTTP2ClientEvents()
    private var context: ChannelHandlerContext?
    private var hasEnded = false
    /// The service's table is smaller than it was, and the next header block is to say that we know.
    private var owesSizeUpdate = false
    private var open: Open?
    private var idle: Scheduled<Void>?

    /// A connection on which nothing has been asked for so long is closed.
    private static let idleLimit = TimeAmount.seconds(30)
    /// There is one request at a time.
    private static let tag: UInt64 = 1

    init(_ endpoint: APNsEndpoint, _ credentials: Credentials, ready: EventLoopPromise<ManagementConnection>) {
        self.endpoint = endpoint
        self.credentials = credentials
        self.ready = ready
        var limits = HTTP2Limits.client
        limits.maxBodySize = HTTP2Response.greatestList
        session = HTTP2ClientSession(limits: limits, decodesSuccesses: true)
    }

    // MARK: The channel's events

    /// Behind a proxy the channel is active before there is anybody to talk to.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { write() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) { write() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        session.receive(buffer.readableBytesUInt8Span, events: &events)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let others = events.others
        events.removeAll()
        for event in others { take(event) }
        write()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated) = event, negotiated != "h2" {
            ready?.fail(ConnectError(.configuration, "\(endpoint) does not offer HTTP/2 (ALPN h2)"))
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Some peers close without TLS's own goodbye; the end of the connection says all there is to say.
        if case NIOSSLError.uncleanShutdown = error { return }
        ready?.fail(error)
        end("\(endpoint): \(Dialer.cause(error))")
    }

    func channelInactive(context: ChannelHandlerContext) { end("\(endpoint) closed the connection and did not answer") }

    // MARK: What the session has read

    private func take(_ event: HTTP2ClientEvents.Event) {
        switch event {
        case .response(_, let response):
            finish(.answered(response))
        case .reset(_, let code, let byPeer, let hasAnswered):
            finish(
                byPeer && code == .refusedStream && !hasAnswered
                    ? .neverSent("\(endpoint) refused the request (\(code))", isLasting: false)
                    : .unknown("\(endpoint) ended the request without an answer (\(code))"))
        case .goAway(let goAway):
            seal()
            if !goAway.neverProcessed.isEmpty { finish(.neverSent(Self.text(goAway, endpoint), isLasting: false)) }
            if open == nil { leave() }
        case .settingsChanged(_, let headerTableSize):
            if headerTableSize < 4096 { owesSizeUpdate = true }
            guard let context else { return }
            ready?.succeed(ManagementConnection(credentials, context.channel, self, isOver: isOver))
            ready = nil
            restIfIdle()
        case .connectionError(let error):
            write()
            end("\(endpoint) broke HTTP/2: \(error)")
        case .pong:
            break
        }
    }

    private static func text(_ goAway: HTTP2GoAway, _ endpoint: APNsEndpoint) -> String {
        let said = ErrorBody(goAway.debugData).reason.map { Reason(said: $0).words }
        return "\(endpoint) takes no more requests on this connection: \(said ?? "\(goAway.code)")"
    }

    // MARK: What is asked of it

    func send(
        _ request: ChannelRequest, _ authorization: [UInt8]?, within limit: Duration,
        _ promise: EventLoopPromise<ChannelAttempts.Ending>
    ) {
        guard let context, !hasEnded, open == nil else {
            return promise.succeed(.neverSent("the connection to \(endpoint) has just ended", isLasting: false))
        }
        idle?.cancel()
        var block: [UInt8] = []
        if owesSizeUpdate { HPACKWriter.appendSizeUpdate(0, to: &block) }
        block += request.headerBlock(
            authority: endpoint.authority, isCleartext: endpoint.isCleartext, authorization: authorization)
        let body = request.body
        switch session.startRequest(tag: Self.tag, headerBlock: block, body: body, bodyRange: body.indices) {
        case .started:
            owesSizeUpdate = false
        case .noStream, .full:
            seal()
            promise.succeed(.neverSent("\(endpoint) takes no requests on this connection", isLasting: false))
            return leave()
        }
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            self.giveUp("\(self.endpoint) did not answer within \(limit)")
        }
        open = Open(promise: promise, deadline: deadline)
        write()
    }

    /// Waits no longer for the answer to what is open.
    func giveUp(_ why: String) {
        guard open != nil else { return }
        session.cancel(tag: Self.tag)
        finish(.unknown(why))
        write()
    }

    /// Ends the connection in order. What is open is given up.
    func leave() {
        seal()
        guard !hasEnded else { return }
        session.goAway()
        write()
        end("the connection was closed")
    }

    // MARK: Ends

    private func finish(_ ending: ChannelAttempts.Ending) {
        guard let open else { return }
        open.deadline.cancel()
        self.open = nil
        open.promise.succeed(ending)
        restIfIdle()
        if session.isFinished { leave() }
    }

    private func restIfIdle() {
        guard open == nil, !hasEnded, let context else { return }
        idle?.cancel()
        idle = context.eventLoop.assumeIsolated().scheduleTask(in: Self.idleLimit) { self.leave() }
    }

    private func seal() { isOver.withLock { $0 = true } }

    private func end(_ why: String) {
        guard !hasEnded else { return }
        hasEnded = true
        seal()
        idle?.cancel()
        finish(.unknown(why))
        ready?.fail(ConnectError(.temporary, why))
        ready = nil
        context?.close(promise: nil)
    }

    private func write() {
        guard session.hasOutput, let context else { return }
        var output = context.channel.allocator.buffer(capacity: session.output.count)
        session.drainOutput(into: &output)
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }
}
