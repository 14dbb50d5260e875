/// Keeps what is in flight, together with the outcomes that wait to be taken, below the limit on outcomes: each entry in
/// flight may bring one. All routes draw on it.
final class OutcomeGate: Sendable {
    private struct State: Sendable {
        /// Nil when outcomes are not kept: then there is always room.
        var limit: Int?
        /// By route: in flight, or about to be.
        var reserved: [Int: Int] = [:]
        /// By route: in flight when its last turn ended.
        var settled: [Int: Int] = [:]
        /// Routes that asked and got nothing. No commit need follow when another route gives some back.
        var denied: Set<Int> = []
    }

    private let isOpen: Bool
    private let state: Monitor<State>

    /// - Parameter limit: nil when outcomes are not kept, for good.
    init(limit: Int?) {
        isOpen = limit == nil
        state = Monitor(State(limit: limit))
    }

    /// Another limit, where there is one.
    func change(limit: Int) { state.withLock { $0.limit = $0.limit == nil ? nil : limit } }

    /// The route has ended, with nothing in flight.
    ///
    /// - Returns: as with ``settle(route:inFlight:)``.
    func forget(route: Int) -> Set<Int> {
        let denied = settle(route: route, inFlight: 0)
        state.withLock { state in
            state.reserved[route] = nil
            state.settled[route] = nil
            state.denied.remove(route)
        }
        return denied
    }

    /// Asks for room beside what the route has in flight.
    ///
    /// - Parameter waiting: outcomes that wait to be taken; asked for only where there is a limit.
    /// - Returns: how many more may go in flight, at most `wanted`.
    func reserve(_ wanted: Int, route: Int, inFlight: Int, waiting: @autoclosure () -> Int) -> Int {
        guard !isOpen else { return wanted }
        let waiting = waiting()
        return state.withLock { state in
            guard let limit = state.limit else { return wanted }
            state.reserved[route] = inFlight
            let taken = state.reserved.values.reduce(0, +)
            let granted = max(0, min(wanted, limit - waiting - taken))
            state.reserved[route] = inFlight + granted
            if granted == 0 { state.denied.insert(route) } else { state.denied.remove(route) }
            return granted
        }
    }

    /// Whether there is room for one more. If not, the route is told when another gives some back.
    func hasRoom(route: Int, inFlight: Int, waiting: @autoclosure () -> Int) -> Bool {
        guard !isOpen else { return true }
        let waiting = waiting()
        return state.withLock { state in
            guard let limit = state.limit else { return true }
            state.reserved[route] = inFlight
            let hasRoom = waiting + state.reserved.values.reduce(0, +) < limit
            if !hasRoom { state.denied.insert(route) }
            return hasRoom
        }
    }

    /// Routes that were denied room and should ask again: outcomes have been taken since.
    ///
    /// - Parameter waiting: outcomes that wait to be taken.
    func deniedThatMayAsk(waiting: Int) -> Set<Int> {
        guard !isOpen else { return [] }
        return state.withLock { state in
            guard let limit = state.limit, !state.denied.isEmpty else { return [] }
            guard waiting + state.reserved.values.reduce(0, +) < limit else { return [] }
            defer { state.denied = [] }
            return state.denied
        }
    }

    /// Records the number of entries that the route has in flight.
    ///
    /// - Returns: routes that were denied room, and should ask again since this one gave some back.
    func settle(route: Int, inFlight: Int) -> Set<Int> {
        guard !isOpen else { return [] }
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
