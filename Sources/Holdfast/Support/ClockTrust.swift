/// The one opinion that an engine has of the wall clock, shared by accepting, expiring, ages and trims.
final class ClockTrust: Sendable {
    /// One look at the clock.
    struct Reading: Sendable {
        let isTrusted: Bool
        let distrustedUntil: Duration?
        /// The earliest time that it may be; the wall clock's time while the clock is trusted.
        let earliest: WallTime
        /// The time that the journal is to store as its last one; nil leaves the one that it has.
        let memory: WallTime?
    }

    private struct State {
        var clock: WallClockGuard
        /// News that was not reported yet.
        var news: WallClockGuard.Remark?
        /// Why the clock is distrusted, if it contradicts what was known.
        var warning: String?
    }

    private let state: Monitor<State>

    /// - Parameter wallTimeAtOpen: the last time that the journal knows of.
    init(wallTimeAtOpen: WallTime?) {
        state = Monitor(State(clock: WallClockGuard(wallTimeAtOpen: wallTimeAtOpen)))
    }

    func look(wall: WallTime, monotonic: Duration) -> Reading {
        state.withLock { state in
            if let remark = state.clock.look(wall: wall, monotonic: monotonic) {
                state.news = remark
                if case .warning(let message) = remark { state.warning = message }
            }
            if state.clock.isTrusted { state.warning = nil }
            return Reading(
                isTrusted: state.clock.isTrusted, distrustedUntil: state.clock.distrustedUntil,
                earliest: state.clock.earliest(wall), memory: state.clock.memory)
        }
    }

    /// Why the clock is distrusted; nil while it is trusted, and after a start that was merely late.
    var warning: String? { state.withLock(\.warning) }

    /// Returns news about the clock, once. A submission may notice it, and cannot report it.
    func takeNews() -> WallClockGuard.Remark? {
        state.withLock { state in
            defer { state.news = nil }
            return state.news
        }
    }
}
