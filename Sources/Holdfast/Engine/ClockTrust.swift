/// The one opinion that an engine has of the wall clock, shared by accepting, expiring, ages and trims.
final class ClockTrust: Sendable {
    /// One look at the clock.
    struct Reading: Sendable {
        let isTrusted: Bool
        let distrustedUntil: Duration?
        /// The earliest time that it may be; the wall clock's time while the clock is trusted.
        let earliest: WallTime
        /// News, told to whoever looks first.
        let remark: WallClockGuard.Remark?
    }

    private let state: Monitor<WallClockGuard>

    /// - Parameter wallTimeAtOpen: the last time that the journal knows of.
    init(wallTimeAtOpen: WallTime?) { state = Monitor(WallClockGuard(wallTimeAtOpen: wallTimeAtOpen)) }

    func look(wall: WallTime, monotonic: Duration) -> Reading {
        state.withLock { clock in
            let remark = clock.look(wall: wall, monotonic: monotonic)
            return Reading(
                isTrusted: clock.isTrusted, distrustedUntil: clock.distrustedUntil, earliest: clock.earliest(wall),
                remark: remark)
        }
    }
}
