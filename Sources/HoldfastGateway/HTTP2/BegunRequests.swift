internal import Holdfast

/// Limits the bytes of incomplete requests over all connections of a listener.
///
/// Each connection has a limit of its own, but a client may have many connections. Beyond the limit, connections with
/// more than their share are closed: they belong to clients that begin many requests on many connections, and end none.
/// Senders that end their requests have next to nothing here.
///
/// A connection is judged when its part changes. Connections that stop just below their share at that time can together
/// hold a few times the limit, until the sweep of unfinished requests resets them.
final class BegunRequests: Sendable {
    private struct State: Sendable {
        var limit: Int
        var byteCount = 0
        /// Connections with incomplete requests.
        var holders = 0
    }

    private let state: Monitor<State>

    /// - Parameter limit: bytes.
    init(limit: Int) { state = Monitor(State(limit: limit)) }

    func change(limit: Int) { state.withLock { $0.limit = limit } }

    /// Notes that one connection's part has changed from `old` to `new` bytes.
    ///
    /// - Returns: whether the connection has to be closed.
    func change(from old: Int, to new: Int) -> Bool {
        state.withLock { state in
            state.byteCount += new - old
            state.holders += (new > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
            return state.byteCount > state.limit && new > state.limit / max(state.holders, 1)
        }
    }
}
