internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport
internal import NIOCore
internal import NIOHTTP1

/// Serves a client of HTTP/1.1 by the handler of HTTP/2 behind it: each request is a stream there, and each answer is written
/// back. So there is one place that reads requests, and limits, timeouts and answers are the same.
///
/// Lives on one event loop. NIO's pipelining handler gives it one request at a time.
final class HTTP1Bridge: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTPServerResponsePart

    /// The request that is arriving, or waits for its answer.
    private struct Request {
        let head: HTTPRequestHead
        var body: [UInt8] = []
        var isComplete = false
    }

    private let service: HTTP2IngressService
    private var session = HTTP2ClientSession(decodesSuccesses: true)
    private var events = HTTP2ClientEvents()
    private var request: Request?
    private var tag: UInt64 = 0
    /// Whether an answer is being written: what comes of it must not come to the handler behind, which writes it.
    private var isAnswering = false
    /// Whether the client has ended its side: the answer that it waits for is the last.
    private var hasHeardAll = false
    private var context: ChannelHandlerContext?

    init(service: HTTP2IngressService) { self.service = service }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Takes what the handler behind wrote before there was a bridge.
    func takeEarly(_ bytes: ByteBuffer) { session.receive(bytes.readableBytesUInt8Span, events: &events) }

    // MARK: Arrival

    /// How far the request in front is.
    enum Progress {
        case arrives, waitsForAnswer
    }

    /// Nil where not even a head is there.
    var progress: Progress? { request.map { $0.isComplete ? .waitsForAnswer : .arrives } }

    /// The time of a request, from its first byte to its last.
    var requestLimit: TimeAmount { TimeAmount(service.settings.limits.write) }

    /// The client has spoken, and it is HTTP.
    func begin() { if let context { push(context) } }

    /// The request that is arriving takes too long. Where its head is there, this answers it.
    func timeOut() {
        service.figures.fault(.slow)
        guard let context else { return }
        if request == nil { end(context) } else { answer(.requestTimeout, [], [], context, isLast: true) }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            request = Request(head: head)
            if head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                context.writeAndFlush(
                    wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
            }
        case .body(let bytes):
            // One byte more than the limit shows that there is more; a client may send any number.
            let room = HTTP2IngressSettings.greatestBody + 1 - (request?.body.count ?? 0)
            request?.body += bytes.readableBytesView.prefix(max(room, 0))
        case .end:
            request?.isComplete = true
            push(context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        hasHeardAll = true
        if request?.isComplete != true { end(context) }
    }

    /// Gives the handler behind what there is for it.
    private func push(_ context: ChannelHandlerContext) {
        guard !isAnswering else {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            return context.eventLoop.execute {
                let (bridge, context) = bound.value
                if context.channel.isActive { bridge.push(context) }
            }
        }
        if let request, request.isComplete, session.openStreams == 0 {
            tag += 1
            let result = session.startRequest(
                tag: tag, headerBlock: Self.headerBlock(request.head), body: request.body,
                bodyRange: 0..<request.body.count)
            if case .started = result {
                self.request?.body = []
            } else {
                return refuse(context)
            }
        }
        guard session.hasOutput else { return }
        context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: session.takeOutput())))
        context.fireChannelReadComplete()
    }

    /// Fields of one connection alone (RFC 9110 section 7.6.1), which HTTP/2 does not have, and those that it says otherwise.
    private static let passedOver: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te", "trailer", "expect",
        "http2-settings", "content-length", "host",
    ]

    private static func headerBlock(_ head: HTTPRequestHead) -> [UInt8] {
        var block: [UInt8] = []
        func append(_ name: String, _ value: String) {
            HPACKWriter.appendLiteral(name: name.utf8, value: value.utf8, indexing: .without, to: &block)
        }
        append(":method", head.method.rawValue)
        append(":scheme", "https")
        append(":path", head.uri)
        if let host = head.headers.first(name: "host") { append(":authority", host) }
        for (name, value) in head.headers {
            let name = name.lowercased()
            if !passedOver.contains(name) { append(name, value) }
        }
        return block
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        session.receive(bytes.readableBytesUInt8Span, events: &events)
        var taken = HTTP2ClientEvents()
        swap(&taken, &events)
        for event in taken.others { take(event, context) }
        // Its bytes are written, or are none of HTTP/1.1's.
        promise?.succeed()
    }

    private func take(_ event: HTTP2ClientEvents.Event, _ context: ChannelHandlerContext) {
        switch event {
        case .response(_, let response):
            let headers = response.headers.filter { !$0.name.hasPrefix(":") }.map { ($0.name, $0.value) }
            answer(HTTPResponseStatus(statusCode: response.status), headers, response.body, context)
        case .reset(_, let code, _, _):
            // Malformed, or nobody's fault: a connection that is on its way to its end takes nothing more.
            if code == .refusedStream { refuse(context) } else { answer(.badRequest, [], [], context, isLast: true) }
        case .goAway(let goAway):
            if !goAway.neverProcessed.isEmpty { refuse(context) }
        case .settingsChanged, .pong, .connectionError: break
        }
    }

    /// Nothing of the request was looked at: here 503 is right, with which clients go elsewhere.
    private func refuse(_ context: ChannelHandlerContext) {
        answer(.serviceUnavailable, [("retry-after", "\(service.settings.retryAfter)")], [], context, isLast: true)
    }

    /// Answers the request that waits, or that is arriving.
    private func answer(
        _ status: HTTPResponseStatus, _ fields: [(String, String)], _ body: [UInt8], _ context: ChannelHandlerContext,
        isLast: Bool = false
    ) {
        guard let request else { return }
        self.request = nil
        var head = HTTPResponseHead(version: .http1_1, status: status, headers: HTTPHeaders(fields))
        // Without it, NIO's encoder would write chunks, also behind an answer to HEAD, which has no body.
        head.headers.add(name: "content-length", value: "\(body.count)")
        let isLast = isLast || hasHeardAll || !request.head.isKeepAlive || !request.isComplete
        if isLast { head.headers.add(name: "connection", value: "close") }
        isAnswering = true
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty, request.head.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        isAnswering = false
        if isLast { end(context) }
    }

    /// Ends the connection as an orderly end does, with everything answered.
    private func end(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.fireUserInboundEventTriggered(Listener.Drain()) }
    }
}
