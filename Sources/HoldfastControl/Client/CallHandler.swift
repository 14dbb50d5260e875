internal import Holdfast
internal import NIOCore
internal import NIOHTTP1

/// A request on its way, and the promise of its answer.
struct Call: Sendable {
    /// Of a ``Resource``, or beyond those.
    let path: String
    /// Whether it is read with GET.
    var isRead = false
    /// Behind the `?` of the path; empty for none.
    var query = ""
    let body: [UInt8]
    let answer: EventLoopPromise<Answer>
    let limit: Duration

    init(
        _ resource: Resource, query: String = "", body: [UInt8], answer: EventLoopPromise<Answer>, limit: Duration
    ) {
        self.init(path: resource.rawValue, body: body, answer: answer, limit: limit)
        (isRead, self.query) = (resource.isRead, query)
    }

    /// What is asked with POST.
    init(path: String, body: [UInt8], answer: EventLoopPromise<Answer>, limit: Duration) {
        (self.path, self.body, self.answer, self.limit) = (path, body, answer, limit)
    }
}

/// A complete answer.
struct Answer: Sendable {
    var status: UInt
    var body: [UInt8]
}

/// Sends calls, and gives each its answer. Answers come in the order of the calls.
final class CallHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = Never
    typealias OutboundIn = Call
    typealias OutboundOut = HTTPClientRequestPart

    private let limits: MessageLimits
    private let first: Call
    private var calls: [(call: Call, timer: Scheduled<Void>)] = []
    /// The answer that is arriving.
    private var answer: Answer?
    /// The owner closes the connection behind this answer.
    private var isLast = false

    /// - Parameter first: the call to make as soon as the connection is there, before anything is read from it: an owner that
    ///   speaks unasked answers this call.
    init(limits: MessageLimits, first: Call) { (self.limits, self.first) = (limits, first) }

    // MARK: Requests

    func channelActive(context: ChannelHandlerContext) {
        make(first, context, promise: nil)
        context.flush()
        context.fireChannelActive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        make(unwrapOutboundIn(data), context, promise: promise)
    }

    private func make(_ call: Call, _ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        let isolated = context.loopBound
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(call.limit)) {
            let late = ControlError(
                .timedOut,
                "the owner did not answer within \(call.limit.words); the request may be done or not: look before you repeat it"
            )
            self.finish(isolated.value, late)
        }
        calls.append((call, timer))
        var head = HTTPRequestHead(
            version: .http1_1, method: call.isRead ? .GET : .POST,
            uri: call.path + (call.query.isEmpty ? "" : "?\(call.query)"),
            headers: ["Host": "holdfast"])
        if !call.isRead {
            head.headers.add(name: "Content-Type", value: "application/json")
            head.headers.add(name: "Content-Length", value: "\(call.body.count)")
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !call.body.isEmpty {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: call.body)))), promise: nil)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    // MARK: Answers

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // An interim answer, such as 100.
            guard head.status.code >= 200 else { return }
            answer = Answer(status: head.status.code, body: [])
            isLast = !head.isKeepAlive
        case .body(let bytes):
            guard let answer, answer.body.count + bytes.readableBytes <= limits.bodyByteCount else {
                return finish(
                    context, ControlError(.tooLarge, "an answer has more than \(limits.bodyByteCount) bytes"))
            }
            self.answer?.body += bytes.readableBytesView
        case .end:
            guard let answer, !calls.isEmpty else { return }
            self.answer = nil
            let (call, timer) = calls.removeFirst()
            timer.cancel()
            call.answer.succeed(answer)
            if isLast { context.close(promise: nil) }
        }
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        // The owner has ended in the middle of an answer.
        case HTTPParserError.invalidEOFState: finish(context, Self.lost)
        case is HTTPParserError:
            finish(context, .malformed("what listens on the journal's socket speaks no HTTP: \(error)"))
        default: finish(context, error as? ControlError ?? Self.lost)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(context, Self.lost)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(context, ControlError(.disconnected, "the connection is closed"))
    }

    private static var lost: ControlError {
        ControlError(
            .disconnected,
            "the process that uses the journal has ended, or closed the connection; the last request may be done or not: look "
                + "when it is back, before you repeat it")
    }

    private func finish(_ context: ChannelHandlerContext, _ error: ControlError) {
        let ended = calls
        calls = []
        for (call, timer) in ended {
            timer.cancel()
            call.answer.fail(error)
        }
        context.close(promise: nil)
    }
}
