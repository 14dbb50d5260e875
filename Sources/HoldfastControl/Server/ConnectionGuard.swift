internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Ends a connection whose other side is too slow, or speaks no HTTP, and says why where it can.
///
/// Three things have a limit: a request that comes, an answer that is read, and the silence between two requests. One timer
/// serves all of them, and nothing that trickles in sets it back.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Finish the requests under way, and close; past the limit close at once.
    struct Drain: Sendable {
        var limit: TimeAmount
    }

    private enum Reading {
        case requests
        /// The rest of the last request; what comes after it is passed over.
        case lastRequest
        /// Everything that comes is passed over.
        case nothing
    }

    /// Between an answer and the next request.
    private let idleLimit: TimeAmount
    /// For one request to come, or an answer to be read.
    private let messageLimit: TimeAmount
    /// Answers that the kernel does not have yet, to requests of which the head has come.
    private var owed = 0
    /// A request has begun, and is not complete yet.
    private var isReceiving = false
    /// Its head is complete.
    private var hasHead = false
    /// An answer has begun, and is not with the kernel yet.
    private var isAnswering = false
    private var reading = Reading.requests
    /// The answer in the making is the last.
    private var isLast = false
    /// The last answer has left, so that no other may follow it.
    private var isOver = false
    /// Why no more requests can be read.
    private var fault: HTTPFault?
    private var isDraining = false
    private var timer: Scheduled<Void>?
    private var drainTimer: Scheduled<Void>?

    init(idleLimit: TimeAmount, messageLimit: TimeAmount) {
        self.idleLimit = idleLimit
        self.messageLimit = messageLimit
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    private func stop() {
        timer?.cancel()
        drainTimer?.cancel()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard reading != .nothing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            owed += 1
            (isReceiving, hasHead) = (true, true)
            if head.headerFields[.connection] == "close" { reading = .lastRequest }
            if owed == 1 { arm(context, messageLimit) }
            // A client that asks before it sends a large body waits for this.
            if owed == 1, head.headerFields[.expect]?.lowercased() == "100-continue" {
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        case .body: break
        case .end:
            (isReceiving, hasHead) = (false, false)
            if reading == .lastRequest { reading = .nothing }
            // A request that was answered before its end is over; the desk has another from here on.
            if owed == 0 { arm(context, idleLimit) } else if owed == 1, !isAnswering { timer?.cancel() }
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is FirstBytes.Came:
            guard owed == 0, !isReceiving, reading == .requests else { return }
            isReceiving = true
            arm(context, messageLimit)
        case let drain as Drain:
            isDraining = true
            guard owed > 0 else { return context.close(promise: nil) }
            let isolated = context.loopBound
            drainTimer = context.eventLoop.assumeIsolated().scheduleTask(in: drain.limit) {
                isolated.value.close(promise: nil)
            }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Bytes that can't be read as HTTP get an answer of their own, behind those to the requests before them.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError, reading != .nothing {
            reading = .nothing
            fault = HTTPFault(error)
            // The answer to a request whose body is at fault is the answer to the fault.
            if !hasHead { owed += 1 }
            if owed == 1 { arm(context, messageLimit) }
        }
        context.fireErrorCaught(error)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else { return promise?.fail(ChannelError.outputClosed) ?? () }
        switch unwrapOutboundIn(data) {
        case .head(let head): write(head, context, promise)
        case .body: context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let isolated = context.loopBound
            written.futureResult.assumeIsolated().whenSuccess { self.answered(isolated.value) }
            context.write(data, promise: written)
        }
    }

    private func write(_ head: HTTPResponse, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        isAnswering = true
        isLast = isDraining || reading != .requests && owed <= 1 || head.headerFields[.connection] == "close"
        arm(context, messageLimit)
        // Hummingbird answers what it can't parse without a body. No answer of ours is empty.
        if let fault, head.status == .badRequest, head.headerFields[.contentLength] == "0" {
            isLast = true
            let (head, body) = fault.answer
            context.write(wrapOutboundOut(.head(head)), promise: promise)
            return context.write(wrapOutboundOut(.body(body)), promise: nil)
        }
        var head = head
        if isLast { head.headerFields[.connection] = "close" }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// The kernel has an answer.
    private func answered(_ context: ChannelHandlerContext) {
        timer?.cancel()
        isAnswering = false
        owed = max(0, owed - 1)
        if isLast { return endOutput(context) }
        if isDraining, owed == 0 { return context.close(promise: nil) }
        if isReceiving { return arm(context, messageLimit) }
        if owed == 0 { arm(context, idleLimit) }
    }

    /// Not closed at once: what the client has said behind its last request would take the answer away from it.
    private func endOutput(_ context: ChannelHandlerContext) {
        (isOver, reading) = (true, .nothing)
        context.close(mode: .output, promise: nil)
        arm(context, messageLimit)
    }

    // MARK: Limits

    private func arm(_ context: ChannelHandlerContext, _ limit: TimeAmount) {
        timer?.cancel()
        let isolated = context.loopBound
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.ranOut(isolated.value, limit) }
    }

    /// A client that has begun a request is told that it did not come in time; every other one is only closed.
    private func ranOut(_ context: ChannelHandlerContext, _ limit: TimeAmount) {
        guard isReceiving, !isAnswering, !isOver, owed == (hasHead ? 1 : 0) else { return context.close(promise: nil) }
        let (head, body) = HTTPFault(tooSlow: limit).answer
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        endOutput(context)
    }
}
