/// The state of all Consumers, written by them for other threads to read.
final class StatusBoard: Sendable {
    private struct State: Sendable {
        var status = EngineStatus()
        var laneStatus: [String: [LaneSummary]] = [:]
        var inFlight: [String: Int] = [:]
        var suspects: [String: Int] = [:]
        var pools: [String: (count: Int, limit: Int)] = [:]
        var conditions: [String: [HealthCondition]] = [:]
        /// By route; nil until the route has had a turn since a request for the state.
        var rest: [String: EngineRest?]
        /// Routes that have had no turn yet since a request for the state: an earlier turn does not answer it.
        var awaited: Set<String> = []
        var hasEnded = false
        var waiters: [CheckedContinuation<EngineRest, Never>] = []
    }

    /// One lane, as its route's last turn left it.
    struct LaneSummary: Hashable, Sendable {
        let key: LaneKey
        let state: LaneState
        /// When a stopped one tries an entry.
        let nextProbeAt: WallTime?
        /// Entries of it that no reading finds.
        let unreachable: Int
        /// Whether the lane has stopped by itself, and has yet to send its first probe.
        let isYetToBeProbed: Bool
        /// The kind of a stop; nil while the lane has not stopped by itself.
        var stop: HealthCondition.Kind?
    }

    /// One route, as its last turn left it.
    struct RouteState: Sendable {
        let inFlight: Int
        let suspects: Int
        /// Connections that take hand-outs, and the most.
        let connections: (count: Int, limit: Int)
        let holding: HoldReason?
        let throttle: EngineStatus.Throttle?
        let parking: EngineStatus.Parking?
        /// Each lane; nil when nothing has changed.
        let lanes: [LaneSummary]?
        /// Topics that are set aside; nil when nothing has changed.
        let topics: [EngineStatus.Topic]?
        /// What is wrong; nil when that is what it was.
        let conditions: [HealthCondition]?
        /// Why it has nothing to do; nil when it has.
        let rest: EngineRest?
        /// Whether the turn began after a request for the state.
        let answersNudge: Bool
    }

    private let state: Monitor<State>

    init(routes: [String]) {
        var initial = State(rest: Dictionary(uniqueKeysWithValues: routes.map { ($0, EngineRest?.none) }))
        for route in routes { initial.status.connections[route] = .idle }
        state = Monitor(initial)
    }

    func add(_ counts: SettlementCounts) {
        guard counts != SettlementCounts() else { return }
        state.withLock { state in
            state.status.confirmed += counts.confirmed
            state.status.confirmedByBarrier += counts.confirmedByBarrier
            state.status.confirmedByQuiet += counts.confirmedByQuiet
            state.status.expired += counts.expired
            state.status.unknown += counts.unknown
            state.status.withdrawn += counts.withdrawn
            state.status.superseded += counts.superseded
            state.status.moved += counts.moved
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

    /// An attempt to connect is under way. A route that was away stays so, with what kept it, until one has worked: what holds
    /// its entries up is not over because it is tried again.
    func connecting(of route: String) {
        state.withLock { state in
            if case .waiting = state.status.connections[route] { return }
            state.status.connections[route] = .connecting
        }
    }

    /// Entries that were in flight and would have been handed out once more.
    func secondHandOut(_ count: Int) { state.withLock { $0.status.secondHandOuts += count } }

    /// Entries that silence had confirmed and a late error denies.
    func lateError(recalled: Int, lost: Int) {
        state.withLock { state in
            state.status.confirmed -= recalled
            state.status.confirmedByQuiet -= recalled
            state.status.recalled += recalled
            state.status.wronglyConfirmed += lost
        }
    }

    /// There is one more route, or the route's work begins anew.
    func add(route: String) {
        state.withLock { state in
            state.rest[route] = .some(nil)
            state.status.topicsSetAside[route] = nil
            state.status.connections[route] = .idle
            if !state.waiters.isEmpty { state.awaited.insert(route) }
        }
    }

    /// The route is served no more.
    func remove(route: String) {
        let resumed: (EngineRest, [CheckedContinuation<EngineRest, Never>])? = state.withLock { state in
            state.laneStatus[route] = nil
            state.status.topicsSetAside[route] = nil
            state.conditions[route] = nil
            state.inFlight[route] = nil
            state.suspects[route] = nil
            state.pools[route] = nil
            state.status.holding[route] = nil
            state.status.throttled[route] = nil
            state.status.parked[route] = nil
            state.status.connections[route] = nil
            state.rest[route] = nil
            state.awaited.remove(route)
            return Self.resumed(&state)
        }
        for waiter in resumed?.1 ?? [] { waiter.resume(returning: resumed?.0 ?? .drained) }
    }

    /// Returns the waiting tasks, if their wait is over.
    private static func resumed(_ state: inout State) -> (EngineRest, [CheckedContinuation<EngineRest, Never>])? {
        guard !state.waiters.isEmpty, state.awaited.isEmpty, let rest = common(state.rest) else { return nil }
        defer { state.waiters = [] }
        return (rest, state.waiters)
    }

    /// One route's turn is over.
    func publish(route: String, _ turn: RouteState) {
        let resumed: (EngineRest, [CheckedContinuation<EngineRest, Never>])? = state.withLock { state in
            state.inFlight[route] = turn.inFlight
            state.suspects[route] = turn.suspects
            state.pools[route] = turn.connections
            state.status.holding[route] = turn.holding
            state.status.throttled[route] = turn.throttle
            state.status.parked[route] = turn.parking
            if let lanes = turn.lanes { state.laneStatus[route] = lanes }
            if let conditions = turn.conditions { state.conditions[route] = conditions }
            if let topics = turn.topics { state.status.topicsSetAside[route] = topics.isEmpty ? nil : topics }
            state.rest[route] = .some(turn.rest)
            if turn.answersNudge { state.awaited.remove(route) }
            return Self.resumed(&state)
        }
        guard let (rest, waiters) = resumed else { return }
        for waiter in waiters { waiter.resume(returning: rest) }
    }

    private static func common(_ rests: [String: EngineRest?]) -> EngineRest? {
        var common = EngineRest.drained
        for case let rest in rests.values {
            guard let rest else { return nil }
            switch (rest, common) {
            case (.damaged, _), (.stopped, .drained): common = rest
            default: continue
            }
        }
        return common
    }

    /// Waits until every route says that it has nothing to do, in a turn after this call.
    func untilRest(nudge: () -> Void) async -> EngineRest {
        await withCheckedContinuation { continuation in
            let answer: EngineRest? = state.withLock { state in
                if state.hasEnded { return .ended }
                // Nobody would answer.
                if state.rest.isEmpty { return .drained }
                for route in state.rest.keys { state.rest[route] = .some(nil) }
                state.awaited = Set(state.rest.keys)
                state.waiters.append(continuation)
                return nil
            }
            if let answer { return continuation.resume(returning: answer) }
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

    /// Of the route: in flight, suspects.
    func load(of route: String) -> (inFlight: Int, suspects: Int) {
        state.withLock { ($0.inFlight[route] ?? 0, $0.suspects[route] ?? 0) }
    }

    /// Connections of the route that take hand-outs, and the most; nil before its first turn.
    func connections(of route: String) -> (count: Int, limit: Int)? { state.withLock { $0.pools[route] } }

    /// - Parameter now: a next try that is due by then is being made, and has no time any more.
    func status(backlog: (LaneKey) -> Int, now: WallTime) -> EngineStatus {
        let state = state.withLock { $0 }
        var result = state.status
        result.throttled = result.throttled.mapValues { throttle in
            var throttle = throttle
            throttle.nextProbeAt = throttle.nextProbeAt.upcoming(at: now)
            return throttle
        }
        result.topicsSetAside = result.topicsSetAside.mapValues { topics in
            topics.map { topic in
                var topic = topic
                topic.nextProbeAt = topic.nextProbeAt.upcoming(at: now)
                return topic
            }
        }
        result.inFlight = state.inFlight.values.reduce(0, +)
        result.suspects = state.suspects.values.reduce(0, +)
        let lanes = state.laneStatus
        result.lanes = lanes.keys.sorted().flatMap { lanes[$0] ?? [] }.map { lane in
            var status = EngineStatus.Lane(key: lane.key, state: lane.state, backlog: backlog(lane.key))
            status.nextProbeAt = lane.nextProbeAt.upcoming(at: now)
            status.isYetToBeProbed = lane.isYetToBeProbed
            status.unreachable = min(lane.unreachable, status.backlog)
            return status
        }
        result.conditions = state.conditions.values.flatMap { $0 }.map {
            var condition = $0.counted(backlog, lanes: result.lanes)
            condition.nextTryAt = condition.nextTryAt.upcoming(at: now)
            return condition
        }
        return result
    }
}

extension HealthCondition {
    /// With what waits because of it now.
    fileprivate func counted(_ backlog: (LaneKey) -> Int, lanes: [EngineStatus.Lane]) -> Self {
        guard kind != .entriesUnreachable else { return self }
        var condition = self
        switch about {
        case "route": condition.affected = lanes.reduce(0) { $0 + ($1.key.route == subject ? $1.backlog : 0) }
        case "lane": condition.affected = lanes.first { $0.key.description == subject }?.backlog ?? affected
        default: break
        }
        return condition
    }
}
