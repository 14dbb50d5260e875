internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOTLS

/// A request on its way, and the promise of its result.
struct PostCall: Sendable {
    let head: HTTPRequestHead
    let body: [UInt8]
    let limit: Duration
    /// The most bytes of the answer's body that are kept.
    let bodyLimit: Int
    let answer: EventLoopPromise<PostAnswer>
}

/// Sends one call after the other, and gives each its result. The connection is closed behind an answer after which it can't
/// be used again, and when nothing was sent for a while.
final class PostHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = PostCall
    typealias OutboundOut = HTTPClientRequestPart

    /// The bytes of an answer's body that are read.
    static let bodyLimit = 64 << 10
    /// Servers close what is idle, some after five seconds, and a request that meets such a close is unclear.
    static let idleLimit = TimeAmount.seconds(2)

    private let isCleartext: Bool
    private let ready: EventLoopPromise<any Channel>
    private var call: PostCall?
    /// Of the call, or of being idle.
    private var timer: Scheduled<Void>?
    private var answer: (status: Int, retryAfter: Duration?, isKeptAlive: Bool)?
    private var bodyCount = 0
    private var kept: [UInt8] = []
    private var isWritten = false

    init(isCleartext: Bool, ready: EventLoopPromise<any Channel>) {
        (self.isCleartext, self.ready) = (isCleartext, ready)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if isCleartext, context.channel.isActive { ready.succeed(context.channel) }
    }

    func channelActive(context: ChannelHandlerContext) {
        if isCleartext { ready.succeed(context.channel) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { ready.succeed(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: The request

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let call = unwrapOutboundIn(data)
        guard self.call == nil, context.channel.isActive else {
            promise?.succeed()
            return call.answer.succeed(PostAnswer(.notSent("the connection was closed")))
        }
        self.call = call
        (answer, bodyCount, kept, isWritten) = (nil, 0, [], false)
        let isolated = context.loopBound
        wait(TimeAmount(call.limit), context) {
            self.finish(isolated.value, .unclear("it did not answer within \(call.limit.words)"))
        }
        context.write(wrapOutboundOut(.head(call.head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: call.body)))), promise: nil)
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenSuccess { self.isWritten = true }
        context.write(wrapOutboundOut(.end(nil)), promise: written)
    }

    // MARK: The answer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // An interim answer, such as 100.
            guard head.status.code >= 200 else { return }
            let retryAfter = head.headers.first(name: "retry-after").flatMap {
                RetryAfter.duration($0, at: EngineClock.system.wall())
            }
            answer = (Int(head.status.code), retryAfter, head.isKeepAlive)
        case .body(let bytes):
            bodyCount += bytes.readableBytes
            kept += bytes.readableBytesView.prefix(max((call?.bodyLimit ?? 0) - kept.count, 0))
            // The status counts; nobody reads on for the rest.
            if bodyCount > Self.bodyLimit { end(context, canGoOn: false) }
        case .end:
            end(context, canGoOn: isWritten)
        }
    }

    private func end(_ context: ChannelHandlerContext, canGoOn: Bool) {
        guard let answer, let call else { return }
        self.answer = nil
        self.call = nil
        if canGoOn, answer.isKeptAlive {
            let isolated = context.loopBound
            wait(Self.idleLimit, context) { isolated.value.close(promise: nil) }
        } else {
            timer?.cancel()
            context.close(promise: nil)
        }
        let isTaken = (200..<300).contains(answer.status)
        let result: PostResult =
            isTaken ? .taken(status: answer.status) : .refused(status: answer.status, retryAfter: answer.retryAfter)
        call.answer.succeed(PostAnswer(result, body: kept))
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ready.fail(error)
        switch error {
        case HTTPParserError.invalidEOFState:
            finish(context, .unclear("it closed the connection in the middle of its answer"))
        case is HTTPParserError: finish(context, .unclear("its answer is no HTTP: \(error)"))
        case NIOSSLError.uncleanShutdown:
            finish(context, .unclear("the connection broke: it ended without the close of TLS"))
        default: finish(context, .unclear("the connection broke: \(Dialer.cause(error))"))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(
            context,
            .unclear("it closed the connection \(answer == nil ? "before it answered" : "in the middle of its answer")")
        )
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(context, .unclear("the connection was closed"))
    }

    private func finish(_ context: ChannelHandlerContext, _ result: PostResult) {
        // Not the promise of the dialer: that knows why there is no connection, and is told of it later than this.
        timer?.cancel()
        let ended = call
        call = nil
        ended?.answer.succeed(PostAnswer(result))
        context.close(promise: nil)
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext, then: @escaping () -> Void) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { then() }
    }
}
