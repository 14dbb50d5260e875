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
        /// Why the clock is distrusted.
        var remark: WallClockGuard.Remark?
        /// Entries that wait for the end of the distrust, by route.
        var held: [Int: Held] = [:]
    }

    /// Entries that look expired, and wait for the end of the distrust.
    struct Held: Hashable, Sendable {
        var count = 0
        /// Whether there may be more that nobody has looked at.
        var isAtLeast = false

        static func += (sum: inout Held, other: Held) {
            sum.count += other.count
            sum.isAtLeast = sum.isAtLeast || other.isAtLeast
        }
    }

    /// Why the clock is distrusted, for operators.
    struct Doubt: Sendable {
        let words: String
        let until: Duration
        let held: Held
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
                state.remark = remark
            }
            if state.clock.isTrusted { (state.remark, state.held) = (nil, [:]) }
            return Reading(
                isTrusted: state.clock.isTrusted, distrustedUntil: state.clock.distrustedUntil,
                earliest: state.clock.earliest(wall), memory: state.clock.memory)
        }
    }

    /// These entries of the route wait for the end of the distrust.
    ///
    /// - Returns: whether none waited before.
    func holds(_ held: Held, ofRoute route: Int) -> Bool {
        state.withLock { state in
            let isNews = held.count > 0 && state.held.isEmpty
            state.held[route] = held.count > 0 ? held : nil
            return isNews
        }
    }

    /// Nil while the clock is trusted, and after a start that was merely late and holds nothing up.
    var doubt: Doubt? {
        state.withLock { state in
            guard let until = state.clock.distrustedUntil else { return nil }
            let held = state.held.values.reduce(into: Held(), +=)
            return switch state.remark {
            case .warning(let words): Doubt(words: words, until: until, held: held)
            case .unproven(let words) where held.count > 0: Doubt(words: words, until: until, held: held)
            case .unproven, nil: nil
            }
        }
    }

    /// Returns news about the clock, once. A submission may notice it, and cannot report it.
    func takeNews() -> WallClockGuard.Remark? {
        state.withLock { state in
            defer { state.news = nil }
            return state.news
        }
    }
}
