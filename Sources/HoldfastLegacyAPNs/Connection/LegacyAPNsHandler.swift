internal import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// Drives one `BinaryClientSession` on its event loop: writes frames in large batches, tracks their departure, and
/// reads the one answer.
final class LegacyAPNsHandler: ChannelInboundHandler, HandOutHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The state of the connection.
    enum Phase {
        /// Connecting, or speaking TLS.
        case opening
        case open
        case ended
    }

    /// The bytes gathered for one write, which is a system call and a few TLS records.
    private static let writeSize = 64 << 10
    /// The most writes that the kernel has not taken yet. They may have been sent in part, so there are few.
    private static let greatestPendingWrites = 2

    let configuration: LegacyAPNsConnector.Configuration
    let connection: LegacyAPNsConnection
    let sink: ConnectionSink
    let received: ReceivedByteCounter
    private let ready: EventLoopPromise<LegacyAPNsConnection>

    var session: BinaryClientSession
    var phase = Phase.opening
    var context: ChannelHandlerContext?
    var isOpen: Bool { if case .open = phase { true } else { false } }

    private var buffer = ByteBuffer()
    private var isWriting = false
    /// Whether the connection has been reported as draining: queued entries are not written, a barrier still is.
    private var isDraining = false
    private var isClosing = false
    var pendingWrites = 0
    /// The cause of an end that is still to come: bytes that the peer has sent are read first.
    private var trouble: String?
    private var lastWrite = NIODeadline.now()
    var departures: Departures
    var stamps: [UInt64] = []
    private var timer: RepeatedTask?

    init(
        configuration: LegacyAPNsConnector.Configuration, connection: LegacyAPNsConnection, sink: ConnectionSink,
        received: ReceivedByteCounter, ready: EventLoopPromise<LegacyAPNsConnection>
    ) {
        self.configuration = configuration
        self.connection = connection
        self.sink = sink
        self.received = received
        self.ready = ready
        session = BinaryClientSession(firstIdentifier: configuration.firstIdentifier)
        departures = Departures()
    }

    // MARK: The channel's events

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    /// The channel has closed. If it was never active, it tells nothing else.
    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        connection.inbox.unbind()
    }

    func channelActive(context: ChannelHandlerContext) {
        if configuration.endpoint.isCleartext { open(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { open(context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isOpen else { return }
        let bytes = unwrapInboundIn(data)
        do throws(ErrorResponseReader.NotAnErrorResponse) {
            guard let (answer, conclusion) = try session.receive(bytes.readableBytesUInt8Span) else { return }
            take(answer, conclusion)
        } catch {
            end("the service has sent what is no error response: it began with byte \(error.firstByte)")
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Some peers close without TLS's close_notify; the end of the connection says enough.
        if case NIOSSLError.uncleanShutdown = error { return }
        ready.fail(error)
        failed(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(trouble ?? "the service closed the connection without an answer")
    }

    /// Keeps the first error as the cause. Bytes that the peer has sent before it are still read: an error response may
    /// be among them.
    func failed(_ error: any Error) {
        trouble = trouble ?? "the connection failed: \(Dialer.cause(error))"
        session.stop()
        context?.close(promise: nil)
    }

    private func open(_ context: ChannelHandlerContext) {
        guard case .opening = phase else { return }
        guard let info = TCPInfo.read(context.channel), info.rawBytesAcknowledged > 0 else {
            let needed = "the binary protocol needs Linux 4.19 or newer"
            ready.fail(
                ConnectError(.configuration, "this system does not tell what has left its send queue: \(needed)"))
            return
        }
        phase = .open
        lastWrite = .now()
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            handler.value.tick()
        }
        ready.succeed(connection)
    }

    // MARK: Requests of the connection

    func wake() { pump() }

    func writeBarrier() {
        // The connection takes nothing more: everything it has comes before the barrier.
        session.append(connection.inbox.takeAll())
        session.writeBarrier()
        pump()
    }

    /// Takes nothing more, flushes, then ends.
    func close(deadline: Duration) {
        guard isOpen, let context else { return }
        guard deadline > .zero else { return end(nil) }
        session.append(connection.inbox.takeAll())
        isClosing = true
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: TimeAmount(deadline)) { handler.value.end(nil) }
        pump()
    }

    // MARK: Frames out

    /// Writes queued entries as far as the kernel takes them.
    func pump() {
        guard isOpen, !isWriting, let context else { return }
        session.append(connection.inbox.takeAll())
        let now = NIODeadline.now()
        if now - lastWrite >= TimeAmount(configuration.idleLimit) { drain() }
        isWriting = true
        while isOpen, session.hasOutput, pendingWrites < Self.greatestPendingWrites { write(context, now) }
        isWriting = false
        lookAtDepartures()
        if let damage = session.damage { return end("an entry can't be read: \(damage)") }
        endIfFlushed()
    }

    private func write(_ context: ChannelHandlerContext, _ now: NIODeadline) {
        buffer.clear(minimumCapacity: Self.writeSize + 4096)
        session.write(to: &buffer, limit: Self.writeSize)
        guard buffer.readableBytes > 0 else { return }
        if pendingWrites == 0, !departures.isWaiting { departures.begin(at: now) }
        lastWrite = now
        pendingWrites += 1
        let position = session.written
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.pendingWrites -= 1
            switch result {
            case .success: self.kernelHasTaken(through: position)
            case .failure(let error): self.failed(error)
            }
        }
        context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
    }

    private func kernelHasTaken(through position: UInt64) {
        guard isOpen, let channel = context?.channel, let info = TCPInfo.read(channel) else { return }
        departures.written(through: position, info)
        pump()
    }

    // MARK: The connection's life

    /// Stops using the connection: queued entries are sent on another one.
    func drain() {
        guard isOpen, !isDraining else { return }
        isDraining = true
        session.stop()
        sink(.draining)
    }

    private func tick() {
        guard isOpen else { return }
        let now = NIODeadline.now()
        if pendingWrites > 0 || departures.isWaiting {
            lookAtDepartures()
            if departures.stalled(at: now) >= TimeAmount(configuration.writeDeadline) {
                return end("the service has taken nothing of what was written for \(configuration.writeDeadline)")
            }
        }
        if now - lastWrite >= TimeAmount(configuration.idleLimit) { drain() }
    }

    func endIfFlushed() {
        guard isOpen, isClosing, !session.hasOutput, pendingWrites == 0, !departures.isWaiting,
            !session.awaitsAnswer
        else { return }
        end(nil)
    }

    private func take(_ answer: ErrorResponse, _ conclusion: BinaryClientSession.Conclusion) {
        let word = "the service answered status \(answer.status.rawValue) and closed"
        switch conclusion {
        case .barrierAnswered(let position): sink(.barrierAnswered(through: .position(position)))
        case .payloadError(let error): sink(.payloadError(error))
        case .unknown:
            return end("\(word); the identifier it gave, \(answer.identifier), names no notification")
        }
        end(word)
    }

    /// Ends the connection. Written entries may have been taken; unwritten ones, and those on their way here at this
    /// moment, are provably unsent.
    ///
    /// - Parameter cause: nil for an end that was asked for.
    func end(_ cause: String?) {
        if case .ended = phase { return }
        let wasOpening: Bool
        if case .opening = phase { wasOpening = true } else { wasOpening = false }
        phase = .ended
        timer?.cancel()
        ready.fail(ConnectError(.temporary, "\(configuration.endpoint): \(cause ?? "closed")"))
        connection.inbox.unbind()
        context?.close(promise: nil)
        guard !wasOpening else { return }
        sink(.ended(ConnectionEnd(possiblySentThrough: .position(session.written), cause: cause)))
    }
}
