/// Where the Consumers write down how they do, for others to read.
final class StatusBoard: Sendable {
    private struct State: Sendable {
        var status = EngineStatus()
        var laneStatus: [String: [(LaneKey, LaneStateMachine.Status)]] = [:]
        /// By route; nil until the route has had a turn since somebody asked.
        var rest: [String: EngineRest?]
        var hasEnded = false
        var waiters: [CheckedContinuation<EngineRest, Never>] = []
    }

    private let state: Monitor<State>

    init(routes: [String]) {
        state = Monitor(State(rest: Dictionary(uniqueKeysWithValues: routes.map { ($0, EngineRest?.none) })))
    }

    func add(_ counts: SettlementPlan.Counts) {
        guard counts != SettlementPlan.Counts() else { return }
        state.withLock { state in
            state.status.confirmed += counts.confirmed
            state.status.expired += counts.expired
            state.status.unknown += counts.unknown
            state.status.deferrals += counts.deferred
            state.status.requeued += counts.requeued
            state.status.rejected.merge(counts.rejected, uniquingKeysWith: +)
        }
    }

    func handedOut(_ count: Int, possibleDuplicates: Int) {
        state.withLock { state in
            state.status.handedOut += count
            state.status.possibleDuplicates += possibleDuplicates
        }
    }

    func connection(of route: String, _ connection: EngineStatus.ConnectionState) {
        state.withLock { $0.status.connections[route] = connection }
    }

    /// One route's turn is over.
    ///
    /// - Parameter rest: why it has nothing to do; nil when it has.
    func publish(route: String, inFlight: Int, lanes: [(LaneKey, LaneStateMachine.Status)]?, rest: EngineRest?) {
        let resumed: (EngineRest, [CheckedContinuation<EngineRest, Never>])? = state.withLock { state in
            state.status.inFlight = inFlight
            if let lanes { state.laneStatus[route] = lanes }
            state.rest[route] = .some(rest)
            guard !state.waiters.isEmpty, let rest = Self.common(state.rest) else { return nil }
            defer { state.waiters = [] }
            return (rest, state.waiters)
        }
        guard let (rest, waiters) = resumed else { return }
        for waiter in waiters { waiter.resume(returning: rest) }
    }

    private static func common(_ rests: [String: EngineRest?]) -> EngineRest? {
        var common = EngineRest.drained
        for case let rest in rests.values {
            guard let rest else { return nil }
            if case .stopped = rest { common = rest }
        }
        return common
    }

    /// Waits until every route says that it has nothing to do, in a turn after this call.
    func untilRest(nudge: () -> Void) async -> EngineRest {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.hasEnded { return true }
                for route in state.rest.keys { state.rest[route] = .some(nil) }
                state.waiters.append(continuation)
                return false
            }
            if hasEnded { return continuation.resume(returning: .ended) }
            nudge()
        }
    }

    /// No turn comes any more.
    func ended() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: .ended) }
    }

    func status(backlog: (LaneKey) -> Int) -> EngineStatus {
        let (status, lanes) = state.withLock { ($0.status, $0.laneStatus) }
        var result = status
        result.lanes = lanes.keys.sorted().flatMap { lanes[$0] ?? [] }.map { key, laneStatus in
            var reason: String?
            if case .stopped(let why) = laneStatus { reason = why }
            return EngineStatus.Lane(key: key, stoppedBecause: reason, backlog: backlog(key))
        }
        return result
    }
}
