/// Counts how long answers took. Times are tenths of a millisecond in 32 bits, which go round once in five days, and no answer
/// takes as long.
///
/// What goes out together is answered together, and so takes equally long: mostly an answer costs a comparison and an addition.
///
/// A pure machine.
struct AnswerClock: Sendable {
    private(set) var now: UInt32 = 0
    /// The last answers, which took equally long and are not in the tally yet.
    private var run: (time: UInt32, count: Int) = (0, 0)
    private var tally = LatencyTally()

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
        if time == run.time { run.count &+= 1 } else { begin(time) }
    }

    private mutating func begin(_ time: UInt32) {
        tally.add(run.count, ticks: UInt64(run.time))
        run = (time, 1)
    }

    /// How long it is since ``now`` was that.
    func time(since then: UInt32) -> Duration { .microseconds(Int64(now &- then) * 100) }

    /// Moves the answers since the last call to `other`.
    mutating func move(to other: inout LatencyTally) {
        if run.count > 0 {
            tally.add(run.count, ticks: UInt64(run.time))
            run.count = 0
        }
        tally.move(to: &other)
    }
}
