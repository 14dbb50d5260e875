/// A ``SenderConnector`` at work that is told of errors only: one call at a time, in the order of the positions.
final class CumulativeSenderConnection: CumulativeConnection {
    private struct State: Sendable {
        var queue: [HandOut] = []
        /// Of the first hand-out: how many of its entries are written.
        var written = 0
        /// The position of the next call.
        var nextPosition: UInt64 = 1
        var isWriting = false
        /// The call for the next position has begun.
        var isCalling = false
        var hasEnded = false
        var task: Task<Void, Never>?
        /// What the application's positions are counted from.
        var base: UInt64 = 0
    }

    private let errors: PayloadErrors
    private let deadline: Duration
    private let write: SenderConnector.Write
    /// Filled under the lock of ``state``, so that nothing comes behind the end.
    private let outbox: EventOutbox
    private let state = Monitor(State())

    /// Entries that wait for their calls, beyond which the engine need not hand out.
    let capacity = 1_000_000
    let canWriteBarrier = false

    init(
        errors: PayloadErrors, deadline: Duration, send: @escaping SenderConnector.Write, sink: ConnectionSink
    ) {
        self.errors = errors
        self.deadline = deadline
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
        guard starts else { return }
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

    func writeBarrier() {}

    func close(deadline: Duration) {
        let isIdle = state.withLock { !$0.isWriting }
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
        let task: Task<Void, Never>? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            let isUnderWay = state.isCalling && lastWasSent
            state.queue = []
            let through = isUnderWay ? state.nextPosition : state.nextPosition - 1
            if let error { outbox.put([.payloadError(error)]) }
            outbox.put([.ended(ConnectionEnd(possiblySentThrough: .position(through), cause: cause))])
            return state.task
        }
        outbox.deliver()
        task?.cancel()
    }

    private func writeAll() async {
        while let (notification, position, number) = next() {
            do {
                try await withDeadline { try await self.write(notification, number) }
            } catch SendFailure.notSent(let why) {
                return end(cause: "not sent: \(why)", lastWasSent: false)
            } catch {
                return end(cause: "the sender failed: \(error)")
            }
            guard advance(past: position) else { return }
            outbox.deliver()
        }
    }

    /// - Returns: what to write, its position, and what the application calls that.
    private func next() -> (PushNotification, position: UInt64, number: UInt64)? {
        let next: (HandOut, Int, UInt64, UInt64)? = state.withLock { state in
            guard !state.hasEnded, let first = state.queue.first else {
                state.isWriting = false
                return nil
            }
            state.isCalling = true
            errors.issued(state.base + state.nextPosition)
            return (first, state.written, state.nextPosition, state.base)
        }
        guard let (handOut, index, position, base) = next else { return nil }
        do throws(PackedNotification.Damage) {
            return (try handOut.entries.notification(at: index), position, base + position)
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
