/// A ``SenderConnector`` at work that is told of errors only: one call at a time, in the order of the positions.
final class CumulativeSenderConnection: CumulativeConnection {
    private enum Barrier: Hashable, Sendable {
        case none
        /// Goes behind everything that was handed over.
        case wanted
        /// It is with the application, or on the wire.
        case called(position: UInt64)
    }

    private struct State: Sendable {
        var queue: [HandOut] = []
        /// Of the first hand-out: how many of its entries are written.
        var written = 0
        /// The position of the next call.
        var nextPosition: UInt64 = 1
        var isWriting = false
        /// The call for the next position has begun.
        var isCalling = false
        var barrier = Barrier.none
        var hasEnded = false
        var task: Task<Void, Never>?
        /// The position before the connection's first one.
        var base: UInt64 = 0
    }

    private let errors: PayloadErrors
    private let deadline: Duration
    private let write: SenderConnector.Write
    private let callBarrier: SenderConnector.WriteBarrier?
    /// Filled under the lock of ``state``, so that nothing comes behind the end.
    private let outbox: EventOutbox
    private let state = Monitor(State())

    /// Entries that wait for their calls, beyond which the engine need not hand out.
    let capacity = 1_000_000

    var canWriteBarrier: Bool { callBarrier != nil && !state.withLock(\.hasEnded) }

    init(
        errors: PayloadErrors, deadline: Duration, barrier: SenderConnector.WriteBarrier? = nil,
        send: @escaping SenderConnector.Write, sink: ConnectionSink
    ) {
        self.errors = errors
        self.deadline = deadline
        callBarrier = barrier
        write = send
        outbox = EventOutbox(sink)
        let base = errors.attach(self)
        state.withLock { $0.base = base }
    }

    func send(_ handOut: HandOut) {
        let starts = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.queue.append(handOut)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { startWriting() }
    }

    private func startWriting() {
        let last = errors.lastCalls
        // Not structured: a call of the application's that ignores cancellation must not hold up the engine's end.
        let task = Task { [self] in
            // One call at a time, also from one connection to the next.
            if let last, !(await hasReturned(last)) { return }
            await writeAll()
        }
        errors.begin(task)
        state.withLock { $0.task = task }
    }

    /// - Returns: false when the connection has ended meanwhile: the last one's call did not return in time.
    private func hasReturned(_ last: Task<Void, Never>) async -> Bool {
        await withDeadline { await last.value }
        return !state.withLock(\.hasEnded)
    }

    /// The application reports errors as it reads them, so there is nothing to wait for.
    func listen(stamp: UInt64) {
        outbox.put([.listened(stamp: stamp)])
        outbox.deliver()
    }

    func writeBarrier() {
        guard callBarrier != nil else { return }
        let starts = state.withLock { state in
            guard !state.hasEnded, state.barrier == .none else { return false }
            state.barrier = .wanted
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { startWriting() }
    }

    /// The service has refused the barrier: what was written before it was taken, and the connection is over.
    func barrierRefused(at position: UInt64) {
        finish(cause: "a barrier was answered", lastWasSent: true) { state in
            guard state.barrier == .called(position: position) else { return nil }
            return [.barrierAnswered(through: .position(position - 1))]
        }
    }

    func close(deadline: Duration) {
        let isIdle = state.withLock { !$0.isWriting && $0.barrier == .none }
        if isIdle || deadline <= .zero { return end(cause: nil) }
        // Not structured, as above.
        Task { [self] in
            do { try await Task.sleep(for: deadline) } catch { return }
            end(cause: nil)
        }
    }

    /// The connection is over: what was not called for was not sent.
    ///
    /// - Parameters:
    ///   - error: what ended it, reported first.
    ///   - lastWasSent: whether the call under way, if there is one, may have written.
    func end(with error: PayloadError? = nil, cause: String?, lastWasSent: Bool = true) {
        finish(cause: cause, lastWasSent: lastWasSent) { _ in error.map { [.payloadError($0)] } ?? [] }
    }

    /// - Parameter words: what is reported before the end; nil when this is no end.
    private func finish(cause: String?, lastWasSent: Bool, _ words: (State) -> [ConnectorEvent]?) {
        let task: Task<Void, Never>? = state.withLock { state in
            guard !state.hasEnded, let words = words(state) else { return nil }
            state.hasEnded = true
            let isUnderWay = state.isCalling && lastWasSent
            state.queue = []
            let through = isUnderWay ? state.nextPosition : state.nextPosition - 1
            outbox.put(words + [.ended(ConnectionEnd(possiblySentThrough: .position(through), cause: cause))])
            return state.task
        }
        outbox.deliver()
        task?.cancel()
    }

    /// One call of the application.
    private enum Call {
        case notification(PushNotification, position: UInt64, number: UInt64)
        case barrier(SenderConnector.WriteBarrier, number: UInt64)
    }

    private func writeAll() async {
        while let call = next() {
            do {
                switch call {
                case .notification(let notification, let position, let number):
                    try await withDeadline { try await self.write(notification, number) }
                    guard advance(past: position) else { return }
                    outbox.deliver()
                case .barrier(let write, let number):
                    try await withDeadline { try await write(number) }
                }
            } catch SendFailure.notSent(let why) {
                return end(cause: "not sent: \(why)", lastWasSent: false)
            } catch {
                return end(cause: "the sender failed: \(error)")
            }
        }
    }

    /// The next call; nil when there is none.
    private func next() -> Call? {
        let next: (entry: (HandOut, Int)?, position: UInt64, base: UInt64)? = state.withLock { state in
            // Behind a barrier nothing may be written.
            if case .called = state.barrier { state.queue = [] }
            let entry = state.queue.first.map { ($0, state.written) }
            guard !state.hasEnded, entry != nil || state.barrier == .wanted else {
                state.isWriting = false
                return nil
            }
            if entry != nil { state.isCalling = true } else { state.barrier = .called(position: state.nextPosition) }
            errors.issued(state.base + state.nextPosition)
            return (entry, state.nextPosition, state.base)
        }
        guard let (entry, position, base) = next else { return nil }
        guard let (handOut, index) = entry else { return callBarrier.map { .barrier($0, number: base + position) } }
        do throws(PackedNotification.Damage) {
            let notification = try handOut.entries.notification(at: index)
            return .notification(notification, position: position, number: base + position)
        } catch {
            end(cause: "entry \(handOut.entries.items[index].uid) can't be read: \(error)", lastWasSent: false)
            return nil
        }
    }

    /// - Returns: false when the connection has ended meanwhile.
    private func advance(past position: UInt64) -> Bool {
        state.withLock { state in
            guard !state.hasEnded, let first = state.queue.first else { return false }
            outbox.put([.sent(through: .position(position))])
            state.isCalling = false
            state.nextPosition += 1
            state.written += 1
            if state.written == first.entries.count {
                state.queue.removeFirst()
                state.written = 0
            }
            return true
        }
    }

    /// Past the deadline the connection is over; the call is cancelled, and nothing waits for it.
    private func withDeadline(_ call: @Sendable () async throws -> Void) async rethrows {
        let watch = Task { [self] in
            do { try await Task.sleep(for: deadline) } catch { return }
            end(cause: "the sender did not return within \(deadline)")
        }
        defer { watch.cancel() }
        try await call()
    }
}
