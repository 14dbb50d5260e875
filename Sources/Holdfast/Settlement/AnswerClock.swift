/// Sums up how long answers took, at the cost of an addition for each: times are tenths of a millisecond in 32 bits, which
/// go round once in five days, and no answer takes as long.
///
/// A pure machine.
struct AnswerClock: Sendable {
    private(set) var now: UInt32 = 0
    private var count = 0
    private var total: UInt64 = 0
    private var greatest: UInt32 = 0

    /// - Parameter now: by the monotonic clock.
    mutating func look(now: Duration) { self.now = Self.ticks(now) }

    /// The time in tenths of a millisecond.
    static func ticks(_ now: Duration) -> UInt32 {
        let (seconds, attoseconds) = now.components
        return UInt32(truncatingIfNeeded: seconds &* 10_000 &+ attoseconds / 100_000_000_000_000)
    }

    /// The whole milliseconds between two times, at most five days apart.
    static func milliseconds(from start: UInt32, to end: UInt32) -> UInt32 { (end &- start) / 10 }

    /// - Parameter handedOutAt: what ``now`` was then.
    mutating func answered(handedOutAt: UInt32) {
        let time = now &- handedOutAt
        count += 1
        total += UInt64(time)
        greatest = max(greatest, time)
    }

    /// How long it is since ``now`` was that.
    func time(since then: UInt32) -> Duration { .microseconds(Int64(now &- then) * 100) }

    /// The answers since the last call.
    mutating func take() -> AnswerTimes {
        guard count > 0 else { return AnswerTimes() }
        defer { (count, total, greatest) = (0, 0, 0) }
        return AnswerTimes(
            count: count, total: .microseconds(Int64(clamping: total) * 100),
            greatest: .microseconds(Int64(greatest) * 100))
    }
}
