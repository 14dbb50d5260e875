/// Consumers by number and by lane, held weakly for callers that must not keep them alive. From any thread.
///
/// A commit is reported only to Consumers of the lanes that it changed, and to those that wait for any commit. With a thousand
/// routes, waking all of them would cost more than the commit.
final class ConsumerDirectory: Sendable {
    private struct Listener: Sendable {
        weak var consumer: Consumer?
        let lanes: [LaneID]
    }

    private struct State: Sendable {
        var listeners: [Int: Listener] = [:]
        /// The numbers of each lane's Consumers; two for a lane that is being handed over.
        var byLane: [LaneID: [Int]] = [:]

        func consumers(of lane: LaneID) -> [Consumer] { (byLane[lane] ?? []).compactMap { listeners[$0]?.consumer } }
    }

    private let state = Monitor(State())

    func add(_ consumer: Consumer) {
        let listener = Listener(consumer: consumer, lanes: consumer.lanes.map(\.id))
        state.withLock { state in
            state.listeners[consumer.index] = listener
            for lane in listener.lanes { state.byLane[lane, default: []].append(consumer.index) }
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in
            for lane in state.listeners.removeValue(forKey: number)?.lanes ?? [] {
                state.byLane[lane]?.removeAll { $0 == number }
            }
        }
    }

    /// Puts something into the inboxes of all Consumers.
    func post(_ change: (inout ConsumerInbox) -> Void) {
        for consumer in state.withLock({ $0.listeners.values.compactMap(\.consumer) }) { consumer.post(change) }
    }

    /// Puts something into the inbox of one Consumer.
    ///
    /// - Returns: whether the Consumer exists and takes it.
    @discardableResult
    func post(to number: Int, _ change: (inout ConsumerInbox) -> Void) -> Bool {
        state.withLock { $0.listeners[number]?.consumer }?.post(change) ?? false
    }

    /// Puts something into the inbox of a lane's Consumer.
    func post(lane: LaneID, _ change: (inout ConsumerInbox) -> Void) {
        for consumer in state.withLock({ $0.consumers(of: lane) }) { consumer.post(change) }
    }

    /// Reports a commit to the Consumers of the lanes that it changed.
    func post(_ lanes: [CommitReport.Lane]) {
        guard !lanes.isEmpty else { return }
        let addressed = state.withLock { state in lanes.map { ($0, state.consumers(of: $0.id)) } }
        for (lane, consumers) in addressed {
            for consumer in consumers { consumer.post { $0.note(lane) } }
        }
    }
}
