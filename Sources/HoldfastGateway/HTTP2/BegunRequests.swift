internal import Holdfast

/// The bytes of requests that have begun and not ended, over all connections of a listener.
///
/// Each connection is bounded by itself, but a client may have many. Beyond the limit those go that have more than their
/// share: who begins many requests on each of many connections, and ends none. Senders who end what they begin have next to
/// nothing here.
///
/// A connection is judged when its part changes. Those that stop just below what their share was then can together come to a
/// few times the limit, until the sweep of requests that do not end resets theirs.
final class BegunRequests: Sendable {
    private struct State: Sendable {
        var limit: Int
        var byteCount = 0
        /// Connections that have some of them.
        var holders = 0
    }

    private let state: Monitor<State>

    /// - Parameter limit: bytes.
    init(limit: Int) { state = Monitor(State(limit: limit)) }

    func change(limit: Int) { state.withLock { $0.limit = limit } }

    /// One connection's part was `old` bytes, and is `new` bytes.
    ///
    /// - Returns: whether the connection has to go.
    func change(from old: Int, to new: Int) -> Bool {
        state.withLock { state in
            state.byteCount += new - old
            state.holders += (new > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
            return state.byteCount > state.limit && new > state.limit / max(state.holders, 1)
        }
    }
}
