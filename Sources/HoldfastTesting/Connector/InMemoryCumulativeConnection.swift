internal import Holdfast

/// A connection of an ``InMemoryCumulativeConnector``.
final class InMemoryCumulativeConnection: CumulativeConnection {
    private struct State: Sendable {
        /// Everything that was handed over; position 1 first. Nil for what can't be read, which the service refuses.
        var handedOver: [PushNotification?] = []
        /// How many have left the send queue.
        var left = 0
        /// The service has refused one; it discards everything behind it.
        var refusal: PayloadError?
        /// How many had been handed over when the barrier was written.
        var barrier: Int?
        var stamps: [UInt64] = []

        /// What the service has to say, when everything up to the barrier, or a refusal, has reached it.
        var words: [ConnectorEvent] {
            if let refusal { return [.payloadError(refusal), end("the service has closed after an error")] }
            guard let barrier, left >= barrier else { return [] }
            return [
                .barrierAnswered(through: .position(UInt64(barrier))), end("the service has closed after the barrier"),
            ]
        }

        func end(_ cause: String?) -> ConnectorEvent {
            .ended(ConnectionEnd(possiblySentThrough: .position(UInt64(left)), cause: cause))
        }
    }

    private let connector: InMemoryCumulativeConnector
    private let outbox: EventOutbox
    private let state = Monitor(State())

    init(_ connector: InMemoryCumulativeConnector, sink: ConnectionSink) {
        self.connector = connector
        outbox = EventOutbox(sink)
    }

    private var behavior: InMemoryCumulativeConnector.Behavior { connector.state.withLock(\.behavior) }

    var capacity: Int { connector.state.withLock(\.capacity) }
    var canWriteBarrier: Bool { behavior.canWriteBarrier }

    func send(_ handOut: HandOut) {
        guard !outbox.isOver else { return }
        let notifications = handOut.notifications.map(\.notification)
        let mayBeSent = state.withLock { state in
            precondition(
                handOut.tickets.map(\.rawValue).elementsEqual(
                    (0..<notifications.count).map { UInt64(state.handedOver.count + $0 + 1) }),
                "the tickets of a cumulative connection are positions")
            state.handedOver += notifications
            return state.barrier == nil
        }
        // Behind a barrier nothing is written: the end will say that it was never sent.
        guard mayBeSent else { return }
        connector.state.withLock { $0.sent += notifications.compactMap(\.self) }
        if behavior.leavesAtOnce { leave(.max) }
    }

    /// Lets the next ones leave the send queue, and the service judge them.
    func leave(_ count: Int) {
        let judge = connector.state.withLock(\.judge)
        var count = count
        while count > 0, leaveOne(judge) { count -= 1 }
        let left = state.withLock { state in
            if state.left > 0 { outbox.put([.sent(through: .position(UInt64(state.left)))]) }
            return state.left
        }
        outbox.deliver()
        if left > 0, behavior.speaksAtOnce { speak() }
    }

    private func leaveOne(_ judge: InMemoryCumulativeConnector.Judge) -> Bool {
        let next: (notification: PushNotification?, isHeard: Bool)? = state.withLock { state in
            guard state.left < (state.barrier ?? state.handedOver.count) else { return nil }
            state.left += 1
            return (state.handedOver[state.left - 1], state.refusal == nil)
        }
        guard let next else { return false }
        guard next.isHeard else { return true }
        let verdict = next.notification.map(judge) ?? SendResult(.rejected(.request), detail: "the entry can't be read")
        guard let verdict else {
            if let notification = next.notification { connector.state.withLock { $0.taken.append(notification) } }
            return true
        }
        state.withLock { state in
            state.refusal = PayloadError(position: .position(UInt64(state.left)), kind: .refused(verdict))
        }
        return true
    }

    /// Says what the service has to say.
    func speak() { putAndDeliver { $0.words } }

    func report(_ error: PayloadError) {
        putAndDeliver { [.payloadError(error), $0.end("the service has closed after an error")] }
    }

    func listen(stamp: UInt64) {
        state.withLock { $0.stamps.append(stamp) }
        if behavior.listensAtOnce { answerListening() }
    }

    func answerListening() {
        putAndDeliver { state in
            defer { state.stamps = [] }
            return state.stamps.map { .listened(stamp: $0) }
        }
    }

    func writeBarrier() {
        state.withLock { $0.barrier = $0.barrier ?? $0.handedOver.count }
        if behavior.speaksAtOnce { speak() }
    }

    func tell(_ event: ConnectorEvent) { putAndDeliver { _ in [event] } }

    /// Ends at once: whatever has left by now has left.
    func close(deadline: Duration) { end(tellsWhatLeft: true, cause: nil) }

    func end(tellsWhatLeft: Bool, cause: String?) {
        putAndDeliver { state in
            [tellsWhatLeft ? state.end(cause) : .ended(ConnectionEnd(possiblySentThrough: nil, cause: cause))]
        }
    }

    private func putAndDeliver(_ events: (inout State) -> [ConnectorEvent]) {
        state.withLock { state in _ = outbox.put(events(&state)) }
        if outbox.isOver { connector.state.withLock { state in state.connections.removeAll { $0 === self } } }
        outbox.deliver()
    }
}
