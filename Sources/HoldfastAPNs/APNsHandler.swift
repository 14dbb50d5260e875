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
    /// The address at the other end.
    let dialed: DialedAddress
    let ready: EventLoopPromise<APNsConnection>

    var session: HTTP2ClientSession
    var events = HTTP2ClientEvents()
    var headers: RequestHeaders
    var phase = Phase.opening
    var context: ChannelHandlerContext?
    var queue = HandOutQueue()
    var block: [UInt8] = []
    /// What the last request was authorized with.
    var token: ProviderTokenSource.Token?
    /// What it was when the answers at hand were read.
    var tokenOfCycle: ProviderTokenSource.Token?
    /// Requests that were sent with a token that has since been replaced.
    var sentWithOldToken: Set<UInt64> = []
    /// The credentials that the connection was opened with have been replaced.
    var isRetired = false
    /// Whether more than one request may be open: with provider tokens, only once one has been taken with them.
    var isProven: Bool
    var liveness: LivenessClock
    var answers: AnswerRecord
    var idle: IdleClock
    /// When a request was started last, or could not have been for want of one.
    var lastStart = NIODeadline.now()
    var timer: RepeatedTask?

    init(
        configuration: APNsConnector.Configuration, tokens: ProviderTokenSource?, connection: APNsConnection,
        sink: ConnectionSink, dialed: DialedAddress, ready: EventLoopPromise<APNsConnection>
    ) {
        self.configuration = configuration
        self.tokens = tokens
        self.connection = connection
        self.sink = sink
        self.dialed = dialed
        self.ready = ready
        var limits = HTTP2Limits.client
        limits.maxConcurrentStreams = configuration.maximumStreams
        session = HTTP2ClientSession(
            limits: limits, decodesSuccesses: configuration.looksForUniqueIDs,
            firstStreamID: configuration.firstStreamID)
        headers = RequestHeaders(
            authority: configuration.endpoint.authority, isCleartext: configuration.endpoint.isCleartext)
        isProven = tokens == nil
        liveness = LivenessClock(
            sendDeadline: configuration.sendDeadline, pingAfter: configuration.pingAfter,
            pingDeadline: configuration.pingDeadline)
        answers = AnswerRecord(sendDeadline: configuration.sendDeadline, now: .now())
        idle = IdleClock(limit: configuration.idleClose, now: .now())
    }

    // MARK: The channel's events

    /// Behind a proxy the channel is active before there is anybody to talk to.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) { begin(context) }

    private func begin(_ context: ChannelHandlerContext) {
        guard timer == nil else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            handler.value.tick()
        }
        liveness.start(at: .now())
        write()
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
}
