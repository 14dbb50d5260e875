/// A ``SenderConnector`` at work: at most so many calls at a time, each with its deadline.
final class SenderConnection: Connection {
    private struct Waiting: Sendable {
        let ticket: Ticket
        let notification: PushNotification
    }

    private struct State: Sendable {
        /// At most ``SenderConnection/capacity``.
        var queue: [Waiting] = []
        /// Calls that have not returned and were not given up; the task is nil until it is known.
        var running: [Ticket: Task<Void, Never>?] = [:]
        /// Calls that were given up and have not returned: they keep their place, or an endless call would be no limit.
        var overdue = 0
        var isClosing = false
        var hasEnded = false
    }

    private let concurrency: Int
    private let deadline: Duration
    private let call: SenderConnector.Send
    /// Filled under the lock of ``state``: an answer must not come behind an end that does not know of it.
    private let outbox: EventOutbox
    private let state = Monitor(State())

    init(concurrency: Int, deadline: Duration, send: @escaping SenderConnector.Send, sink: ConnectionSink) {
        self.concurrency = concurrency
        self.deadline = deadline
        call = send
        outbox = EventOutbox(sink)
    }

    /// One more than may run, so that the next call need not wait for the engine.
    var capacity: Int { concurrency * 2 }

    func send(_ handOut: HandOut) {
        var unreadable: [(ticket: Ticket, result: SendResult)] = []
        var waiting: [Waiting] = []
        for (index, ticket) in handOut.tickets.enumerated() {
            do throws(PackedNotification.Damage) {
                waiting.append(Waiting(ticket: ticket, notification: try handOut.entries.notification(at: index)))
            } catch {
                unreadable.append((ticket, .notSent("the entry can't be read: \(error)")))
            }
        }
        state.withLock { state in
            if state.isClosing {
                unreadable += waiting.map { ($0.ticket, .notSent("the connection is closed")) }
            } else {
                state.queue.append(contentsOf: waiting)
            }
            if !unreadable.isEmpty { outbox.put([.results(unreadable)]) }
        }
        outbox.deliver()
        startCalls()
    }

    func close(deadline: Duration) {
        let isDone = state.withLock { state in
            guard !state.isClosing else { return false }
            state.isClosing = true
            if !state.queue.isEmpty {
                outbox.put([.results(state.queue.map { ($0.ticket, .notSent("the engine is shutting down")) })])
            }
            state.queue = []
            return state.running.isEmpty
        }
        outbox.deliver()
        if isDone { return end(nil) }
        // Not structured: a call of the application's that ignores cancellation must not hold up the shutdown.
        Task { [self] in
            do { try await Task.sleep(for: deadline) } catch { return }
            end(nil)
        }
    }

    /// Calls that run may have sent what they were given; what waits was not.
    private func end(_ cause: String?) {
        let running: [Ticket: Task<Void, Never>?]? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            state.isClosing = true
            outbox.put([.ended(ConnectionEnd(possiblySent: Array(state.running.keys), cause: cause))])
            return state.running
        }
        guard let running else { return }
        for case let task? in running.values { task.cancel() }
        outbox.deliver()
    }

    private func startCalls() {
        while let next = takeNext() { start(next) }
    }

    private func takeNext() -> Waiting? {
        state.withLock { state in
            guard !state.isClosing, !state.queue.isEmpty,
                state.running.count + state.overdue < concurrency
            else { return nil }
            let next = state.queue.removeFirst()
            state.running.updateValue(nil, forKey: next.ticket)
            return next
        }
    }

    /// The call and its deadline race; the first to claim the ticket answers for it.
    private func start(_ waiting: Waiting) {
        // Not structured: a call that ignores cancellation outlives its deadline, and nothing may wait for it.
        let task = Task { [self] in
            let watch = Task { [self] in
                do { try await Task.sleep(for: self.deadline) } catch { return }
                giveUp(waiting.ticket)
            }
            let result = await perform(waiting.notification)
            watch.cancel()
            finish(waiting.ticket, result)
        }
        state.withLock { state in
            if state.running[waiting.ticket] != nil { state.running.updateValue(task, forKey: waiting.ticket) }
        }
    }

    private func perform(_ notification: PushNotification) async -> SendResult {
        do {
            return try await call(notification)
        } catch SendFailure.notSent(let why) {
            return .notSent(why)
        } catch {
            return .unknown("the sender failed: \(error)")
        }
    }

    private func finish(_ ticket: Ticket, _ result: SendResult) {
        let isLast = state.withLock { state in
            guard state.running.removeValue(forKey: ticket) != nil else {
                state.overdue -= 1
                return false
            }
            outbox.put([result == .confirmed ? .confirmed([ticket]) : .results([(ticket, result)])])
            return state.isClosing && state.running.isEmpty
        }
        outbox.deliver()
        if isLast { end(nil) } else { startCalls() }
    }

    private func giveUp(_ ticket: Ticket) {
        let (task, isStuck): (Task<Void, Never>?, Bool) = state.withLock { state in
            guard let task = state.running.removeValue(forKey: ticket) else { return (nil, false) }
            state.overdue += 1
            outbox.put([.results([(ticket, .unknown("the sender did not answer within \(deadline)"))])])
            return (task, state.overdue >= concurrency)
        }
        guard let task else { return }
        task.cancel()
        outbox.deliver()
        if isStuck {
            end("all \(concurrency) calls of the sender are past their deadline and do not return")
        }
    }
}
