import HoldfastMocking
import NIOCore
import NIOTLS

/// A command of a ``MockBinaryServer`` to a connection, sent as an event through its pipeline.
enum MockBinaryCommand: Sendable {
    /// Sends status 10, then ends.
    case drain
    /// Ends at once.
    case abort
}

/// One client's connection to a ``MockBinaryServer``. Lives on one event loop.
final class MockBinaryConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Waiting for TLS.
        case opening
        case serving
        /// Reads nothing from the socket.
        case stalled
        /// Throws away further bytes; an error response may be due.
        case discarding
        /// Our side is closed; the client's further bytes are thrown away.
        case lingering
        case closed
    }

    private let service: MockBinaryService
    private let number: Int
    private let wire: MockWire
    private var responder: BinaryResponder
    private var context: ChannelHandlerContext?
    private var state = State.opening
    private var wasCounted = false
    /// The step that the last bytes led to, due once the ledger has all earlier ones.
    private var step: BinaryResponder.Step?
    private var timer: Scheduled<Void>?

    /// The time a client has to close its side after ours.
    private static let lingerLimit = Duration.seconds(1)
    /// While nothing is read, the kernel may still hand over its bytes when the client leaves.
    private static let stalledByteLimit = 16 << 20

    init(service: MockBinaryService, number: Int, wire: MockWire) {
        self.service = service
        self.number = number
        self.wire = wire
        responder = BinaryResponder(service: service, connection: number)
    }

    // MARK: The channel's life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { channelActive(context: context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        guard !wasCounted else { return }
        wasCounted = true
        service.counters.withLock { counters in
            counters.connections += 1
            counters.openConnections += 1
        }
        if let ending = service.behavior.withLock({ $0 })?.open(number) {
            end(ending)
        } else if service.configuration.isCleartext {
            state = .serving
        } else {
            schedule(service.configuration.handshakeLimit) { connection in connection.wire.close() }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        // Bytes that were read before a reset were taken.
        if writeLedger() { publish() }
        let wasOpening = state == .opening
        state = .closed
        if wasCounted {
            service.counters.withLock { counters in
                counters.openConnections -= 1
                if wasOpening { counters.handshakesFailed += 1 }
            }
        }
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted:
            guard state == .opening else { break }
            timer?.cancel()
            state = .serving
        case MockBinaryCommand.drain: drain()
        case MockBinaryCommand.abort: wire.reset()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// A client that speaks no TLS, breaks off or resets costs only its connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        wire.close()
    }

    // MARK: One cycle

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        switch state {
        case .opening, .closed: return
        case .stalled: if responder.waitingByteCount > Self.stalledByteLimit { return }
        case .serving, .discarding, .lingering: break
        }
        responder.receive(buffer)
        if state == .serving, step == nil { step = responder.work() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        finishCycle()
        context.fireChannelReadComplete()
    }

    /// Writes the ledger, then the counters, then the connection's end: a client with an error response finds in the
    /// ledger and in the counters everything that it proves taken.
    private func finishCycle() {
        guard writeLedger() else { return }
        publish()
        guard state == .serving, let step else { return }
        self.step = nil
        switch step {
        case .end(let ending): end(ending)
        case .fail(let failure): fail(failure)
        }
    }

    /// - Returns: false when it could not be written; then nothing may be proven.
    private func writeLedger() -> Bool {
        guard !responder.ledgerLines.isEmpty, let ledger = service.ledger else { return true }
        do {
            try ledger.append(responder.ledgerLines)
            responder.ledgerLines.removeAll(keepingCapacity: true)
            return true
        } catch {
            responder.ledgerLines.removeAll()
            service.counters.withLock { $0.ledgerFailures += 1 }
            wire.reset()
            return false
        }
    }

    private func publish() {
        let tally = responder.takeTally()
        service.counters.withLock { $0.add(tally) }
        guard let observer = service.configuration.observer else { return }
        let exchanges = responder.takeExchanges()
        if !exchanges.isEmpty { observer(exchanges) }
    }

    // MARK: Errors and ends

    private func drain() {
        switch state {
        case .serving:
            if step == nil, let failure = responder.shutDown() { fail(failure) }
        case .opening, .stalled: wire.close()
        // A pending error response may still go out.
        case .discarding: if timer == nil { wire.close() }
        case .lingering, .closed: break
        }
    }

    private func fail(_ failure: BinaryResponder.Failure) {
        state = .discarding
        guard failure.delay > .zero else { return respond(failure, failure.bytes[...]) }
        schedule(failure.delay) { connection in connection.respond(failure, failure.bytes[...]) }
    }

    /// Writes the rest of an error response, piece by piece.
    private func respond(_ failure: BinaryResponder.Failure, _ bytes: ArraySlice<UInt8>) {
        guard let context, state == .discarding else { return }
        guard failure.isAnswered else { return end(failure.ending) }
        if bytes.count == failure.bytes.count { service.counters.withLock { $0.responses += 1 } }
        var piece = bytes
        if let pieces = failure.pieces {
            if pieces.isBelowTLS { wire.split(every: pieces.byteCount) } else { piece = bytes.prefix(pieces.byteCount) }
        }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece)), promise: nil)
        let rest = bytes.dropFirst(piece.count)
        guard !rest.isEmpty else { return end(failure.ending) }
        schedule(failure.pieces?.pause ?? .zero) { connection in connection.respond(failure, rest) }
    }

    private func end(_ ending: MockBinaryAnswer.Ending) {
        timer?.cancel()
        timer = nil
        switch ending {
        case .close: closeOutput()
        case .reset: wire.reset()
        case .discard: state = .discarding
        case .stall(let duration): stall(duration)
        }
    }

    private func stall(_ duration: Duration?) {
        let before = state
        state = .stalled
        setReading(false)
        guard let duration else { return }
        schedule(duration) { connection in
            connection.state = before
            connection.timer = nil
            connection.setReading(true)
            guard before == .serving else { return }
            connection.step = connection.responder.work()
            connection.finishCycle()
        }
    }

    private func setReading(_ isReading: Bool) {
        do {
            try context?.channel.syncOptions?.setOption(.autoRead, value: isReading)
        } catch {
            wire.close()
        }
    }

    /// Closes our side first: closing both with bytes unread would make the kernel send a reset, which can overtake the
    /// error response on its way.
    private func closeOutput() {
        guard let context, state != .opening else { return wire.close() }
        state = .lingering
        schedule(Self.lingerLimit) { connection in connection.wire.close() }
        context.close(mode: .output, promise: nil)
    }

    private func schedule(_ delay: Duration, _ action: @escaping (MockBinaryConnection) -> Void) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { action(self) }
    }
}
