internal import Holdfast

/// The limit of open connections of all listeners of a gateway together. Each takes a descriptor of the process; the
/// reserve is for the push service, for operators and for files, so that idle clients cannot stop deliveries.
final class ConnectionRoom: Sendable {
    private struct State: Sendable {
        var limit: Int
        var taken = 0
        var crowd = CrowdWatch()
    }

    private let state: Monitor<State>

    init(limit: Int) { state = Monitor(State(limit: limit)) }

    var limit: Int { state.withLock(\.limit) }

    /// Connections that are open stay open, even where they are more than the new limit.
    func change(limit: Int) { state.withLock { $0.limit = limit } }

    /// - Parameter beyondLimit: takes a place even where there is none, because another is about to be given back.
    /// - Returns: false where there is none.
    @discardableResult
    func take(beyondLimit: Bool = false) -> Bool {
        state.withLock { state in
            guard beyondLimit || state.taken < state.limit else { return false }
            state.taken += 1
            state.crowd.opened(now: state.taken)
            return true
        }
    }

    func giveBack() {
        let hasCrowdGone = state.withLock { state in
            state.taken -= 1
            return state.crowd.closed(now: state.taken)
        }
        if hasCrowdGone { IdleMemory.giveBackSoon() }
    }
}
