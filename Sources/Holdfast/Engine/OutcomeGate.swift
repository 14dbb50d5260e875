/// Keeps what is in flight, together with the outcomes that wait to be taken, below the limit on outcomes: each entry in
/// flight may bring one. All routes draw on it.
final class OutcomeGate: Sendable {
    private struct State: Sendable {
        /// By route: in flight, or about to be.
        var reserved: [Int: Int] = [:]
        /// By route: in flight when its last turn ended.
        var settled: [Int: Int] = [:]
        /// Routes that asked and got nothing. No commit need follow when another route gives some back.
        var denied: Set<Int> = []
    }

    /// Nil when outcomes are not kept: then there is always room.
    let limit: Int?
    private let state = Monitor(State())

    init(limit: Int?) { self.limit = limit }

    /// Asks for room beside what the route has in flight.
    ///
    /// - Parameter waiting: outcomes that wait to be taken.
    /// - Returns: how many more may go in flight, at most `wanted`.
    func reserve(_ wanted: Int, route: Int, inFlight: Int, waiting: Int) -> Int {
        guard let limit else { return wanted }
        return state.withLock { state in
            state.reserved[route] = inFlight
            let taken = state.reserved.values.reduce(0, +)
            let granted = max(0, min(wanted, limit - waiting - taken))
            state.reserved[route] = inFlight + granted
            if granted == 0 { state.denied.insert(route) } else { state.denied.remove(route) }
            return granted
        }
    }

    /// Whether there is room for one more. If not, the route is told when another gives some back.
    func hasRoom(route: Int, inFlight: Int, waiting: Int) -> Bool {
        guard let limit else { return true }
        return state.withLock { state in
            state.reserved[route] = inFlight
            let hasRoom = waiting + state.reserved.values.reduce(0, +) < limit
            if !hasRoom { state.denied.insert(route) }
            return hasRoom
        }
    }

    /// What the route has in flight after all.
    ///
    /// - Returns: routes that were denied room, and should ask again since this one gave some back.
    func settle(route: Int, inFlight: Int) -> Set<Int> {
        guard limit != nil else { return [] }
        return state.withLock { state in
            state.reserved[route] = inFlight
            let before = state.settled.updateValue(inFlight, forKey: route) ?? 0
            guard inFlight < before else { return [] }
            let others = state.denied.subtracting([route])
            state.denied.subtract(others)
            return others
        }
    }
}
