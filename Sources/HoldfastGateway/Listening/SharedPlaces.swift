internal import Holdfast

/// Counts what the connections of a listener keep in memory together, against one limit.
final class SharedPlaces: Sendable {
    private struct State: Sendable {
        var limit: Int
        var taken = 0
    }

    private let state: Monitor<State>

    init(limit: Int) { state = Monitor(State(limit: limit)) }

    /// What is kept beyond a lower limit stays.
    func change(limit: Int) { state.withLock { $0.limit = limit } }

    var taken: Int { state.withLock(\.taken) }

    /// - Returns: how many of `count` there is room for, which are taken.
    func take(_ count: Int) -> Int {
        guard count > 0 else { return 0 }
        return state.withLock { state in
            let granted = min(max(state.limit - state.taken, 0), count)
            state.taken += granted
            return granted
        }
    }

    func takeBeyondLimit(_ count: Int) { state.withLock { $0.taken += count } }

    func giveBack(_ count: Int) {
        guard count > 0 else { return }
        state.withLock { $0.taken -= count }
    }
}
