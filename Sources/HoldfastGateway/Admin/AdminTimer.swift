internal import HTTPTypes
internal import HoldfastTransport
internal import NIOCore
internal import NIOHTTPTypes

/// Ends a connection whose client takes too long over a request, or over reading its answer: one timer, whatever
/// trickles in. Reports to the other connections whether it is idle. An answer that is a stream of events has no end: there
/// the client has its time to read what is written, and it is gone when it closes its side.
final class AdminTimer: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let idle: TimeAmount
    private let request: TimeAmount
    private let connections: AdminConnections
    private var timer: Scheduled<Void>?
    private var isStreaming = false
    private var progress = StreamProgress()
    /// Whether the client has closed its side.
    private var isInputClosed = false

    init(_ configuration: AdminConfiguration, _ connections: AdminConnections) {
        self.connections = connections
        (idle, request) = (TimeAmount(configuration.idle), TimeAmount(configuration.request))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard connections.add(context.channel) else { return context.close(promise: nil) }
        wait(idle, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        connections.remove(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        connections.remove(context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // From its head on a request has its time, and so has its answer: a trickling body brings no more.
        if case .head = unwrapInboundIn(data) {
            connections.change(context.channel, isIdle: false)
            wait(request, context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            isStreaming = head.headerFields[.contentType]?.hasPrefix("text/event-stream") ?? false
            if isStreaming { watch(context) }
            context.write(data, promise: promise)
            if isStreaming, isInputClosed { context.close(promise: nil) }
            return
        case .body: return context.write(data, promise: promise)
        case .end: isStreaming = false
        }
        let written = promise ?? context.eventLoop.makePromise()
        context.write(data, promise: written)
        let isolated = context.loopBound
        // Idle once the answer has left, not once it was written: a client that does not read gets no extra time.
        written.futureResult.assumeIsolated().whenSuccess {
            self.connections.change(isolated.value.channel, isIdle: true)
            self.wait(self.idle, isolated.value)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isInputClosed = true
            if isStreaming { return context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// A stream's time runs while something that was written waits for the client's system to take it.
    private func watch(_ context: ChannelHandlerContext) {
        StreamProgress.boundBuffer(of: context.channel)
        progress = StreamProgress()
        look(context)
    }

    private func look(_ context: ChannelHandlerContext) {
        timer?.cancel()
        guard isStreaming else { return }
        guard !progress.isStalled(context.channel, for: request) else { return context.close(promise: nil) }
        let isolated = context.loopBound
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(max(request.nanoseconds / 5, 1))) {
            self.look(isolated.value)
        }
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        timer?.cancel()
        let isolated = context.loopBound
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { isolated.value.close(promise: nil) }
    }
}
