internal import Holdfast
internal import HoldfastTransport
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Serves one client its topic's feedback, page by page, each once the kernel has the one before. Moves the topic's
/// position on when the client has taken everything.
///
/// Taken means: the client's kernel acknowledged every byte before our side was closed, and the client closed its own
/// behind that, in order. A client that dies with unread bytes resets the connection, and gets the same tuples again.
final class FeedbackServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// Speaking TLS.
        case opening
        case telling
        /// Our kernel has everything, the client's not yet.
        case draining
        /// Our side is closed; the client's close is awaited.
        case closing
        case ended
    }

    /// The first and the longest interval between two looks at the send queue, which has no event.
    private static let leastLook = TimeAmount.milliseconds(1)
    private static let greatestLook = TimeAmount.milliseconds(100)

    private let service: FeedbackService
    private let isCleartext: Bool
    private let limits: ListenerLimits
    private var phase = Phase.opening
    private var reading: FeedbackReading?
    private var told = 0
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var look: Scheduled<Void>?

    init(service: FeedbackService, isCleartext: Bool) {
        self.service = service
        self.isCleartext = isCleartext
        limits = service.settings.limits
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watch(for: limits.handshake, .handshake)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if isCleartext { begin(context, topic: service.settings.topic) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            let client = ClientGate.client(in: context.pipeline)
            begin(context, topic: CertifiedClients.topic(of: client, configured: service.settings.topic))
        case ChannelEvent.inputClosed:
            // Before our own close: a client that reads no further, or looks like one.
            if phase != .closing { end() }
        case is Listener.Drain:
            if phase == .opening { end() }
        case is Listener.CutOff:
            // It is cut off, and has not closed its side by itself.
            end()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .ended else { return }
        service.figures.fault(.protocol)
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Some clients close without TLS's close_notify; the end of TCP says more.
        if case NIOSSLError.uncleanShutdown = error { return }
        if phase == .opening { service.figures.fault(.tls) }
        service.logger.debug("a client's reading of the feedback failed: \(error)")
        end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if phase == .closing { taken() }
        end()
        context.fireChannelInactive()
    }

    // MARK: Serving

    private func begin(_ context: ChannelHandlerContext, topic: String?) {
        guard phase == .opening else { return }
        guard let topic else {
            service.figures.fault(.topic)
            return end()
        }
        phase = .telling
        watch(for: limits.write, .write)
        service.begin(topic, on: context.eventLoop).assumeIsolated().whenComplete { result in
            self.proceed(result) { reading in
                self.reading = reading
                if reading.isOfUse { self.tell(reading) } else { self.drain() }
            }
        }
    }

    private func tell(_ reading: FeedbackReading) {
        guard let context, phase == .telling else { return }
        service.page(reading, on: context.eventLoop).assumeIsolated().whenComplete { result in
            self.proceed(result) { page in self.write(page) }
        }
    }

    private func write(_ page: FeedbackReading.Page) {
        guard let context, phase == .telling else { return }
        let proceed = {
            self.told += page.count
            if let rest = page.rest { self.tell(rest) } else { self.drain() }
        }
        // The write timeout is for each page.
        watch(for: limits.write, .write)
        guard let last = page.records.last else { return proceed() }
        for record in page.records.dropLast() {
            context.write(wrapOutboundOut(ByteBuffer(bytes: record)), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: last))).assumeIsolated().whenSuccess(proceed)
    }

    private func proceed<Value>(_ result: Result<Value, any Error>, _ body: (Value) -> Void) {
        guard phase == .telling else { return }
        switch result {
        case .success(let value): body(value)
        case .failure(let error):
            // The client finds the connection closed, and connects again.
            service.logger.warning("the blacklist can't be read for the feedback: \(error)")
            end()
        }
    }

    // MARK: The end

    private func drain() {
        phase = .draining
        lookAtQueue(after: Self.leastLook)
    }

    private func lookAtQueue(after pause: TimeAmount) {
        guard phase == .draining, let context, let info = TCPInfo.read(context.channel) else { return end() }
        guard !info.isDrained else {
            phase = .closing
            watch(for: limits.write, nil)
            return context.close(mode: .output, promise: nil)
        }
        look = context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            self.lookAtQueue(after: min(pause * 2, Self.greatestLook))
        }
    }

    private func taken() {
        phase = .ended
        guard let reading else { return }
        var values = IngressFigures.Values()
        values.tuples = told
        service.figures.add(values)
        guard reading.isOfUse else { return }
        service.unfinished.begin()
        service.taken(reading) { [service] result in
            if case .failure(let error) = result {
                service.logger.warning(
                    "what was told as feedback is told again: the journal can't keep a note: \(error)")
            }
            service.unfinished.finish()
        }
    }

    private func end() {
        timer?.cancel()
        look?.cancel()
        guard phase != .ended else { return }
        phase = .ended
        context?.close(promise: nil)
    }

    private func watch(for limit: Duration, _ fault: ListenerFault?) {
        guard let context else { return }
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            if let fault { self.service.figures.fault(fault) }
            self.end()
        }
    }
}
