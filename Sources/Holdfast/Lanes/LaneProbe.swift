/// Decides when a lane that stopped by itself tries one entry, and whether the answer lets it run again.
///
/// A pure machine: times and random numbers are arguments.
struct LaneProbe: Sendable {
    private enum State: Sendable {
        /// The lane runs, or an operator has paused it.
        case idle
        case waiting(until: Duration)
        /// The next entry that the lane has goes out.
        case ready
        /// `deadline` is when it counts as unanswered.
        case out(UID, connection: Int, deadline: Duration)
    }

    /// The meaning of a probe's answer for the cause of the stop.
    enum Finding: Hashable, Sendable {
        /// The cause is gone.
        case passed
        /// The cause is still there.
        case failed
        /// Nothing: neither of the cause nor of its end.
        case inconclusive
    }

    private var state = State.idle
    /// Probes that failed since the lane stopped.
    private(set) var failures = 0
    /// Whether a probe has come to anything since the lane stopped.
    private(set) var hasTried = false
    /// When the next probe goes out, by the wall clock; nil when none is planned.
    private(set) var nextAt: WallTime?

    /// Whether a probe is with a connection.
    var isOut: Bool { if case .out = state { true } else { false } }

    /// When there is something to do again; nil when only an entry or an answer can bring more.
    var wake: Duration? {
        switch state {
        case .idle, .ready: nil
        case .waiting(let until), .out(_, _, let until): until
        }
    }

    /// The lane has stopped. The first probe comes after a pause.
    mutating func begin(_ schedule: ProbeSchedule, at now: Moment, random: Double) {
        self = LaneProbe()
        wait(schedule, at: now, random: random)
    }

    /// The lane runs, or is paused: nothing is probed any more.
    mutating func end() { self = LaneProbe() }

    /// - Returns: whether a probe may go out from now on.
    mutating func look(_ schedule: ProbeSchedule, at now: Moment, random: Double) -> Bool {
        switch state {
        case .idle: return false
        case .ready: return true
        case .waiting(let until):
            guard until <= now.monotonic else {
                nextAt = now.wallTime(of: until, before: nextAt)
                return false
            }
            state = .ready
            return true
        case .out(_, _, let deadline):
            if deadline <= now.monotonic { conclude(.inconclusive, schedule, at: now, random: random) }
            return false
        }
    }

    /// The next probe goes out now, and the pauses begin anew.
    mutating func hurry(at now: Moment) {
        guard case .waiting = state else { return }
        (state, failures, nextAt) = (.ready, 0, now.wall)
    }

    mutating func handedOut(_ uid: UID, on connection: Int, _ schedule: ProbeSchedule, now: Duration) {
        guard case .ready = state else { return }
        state = .out(uid, connection: connection, deadline: now + schedule.answerLimit)
    }

    /// Whether this entry is the probe.
    func isProbe(_ uid: UID) -> Bool {
        if case .out(uid, _, _) = state { true } else { false }
    }

    /// Whether one of these entries is the probe.
    func isProbe(in uids: ClosedRange<UInt64>) -> Bool {
        if case .out(let uid, _, _) = state { uids.contains(uid.rawValue) } else { false }
    }

    /// Whether the probe is with this connection.
    func isOut(on connection: Int) -> Bool {
        if case .out(_, connection, _) = state { true } else { false }
    }

    /// The probe has come to something. One that passed ends nothing by itself: see ``end()``.
    mutating func conclude(
        _ finding: Finding, _ schedule: ProbeSchedule, at now: Moment, random: Double
    ) {
        hasTried = true
        if finding == .failed { failures += 1 }
        wait(schedule, at: now, random: random)
    }

    private mutating func wait(_ schedule: ProbeSchedule, at now: Moment, random: Double) {
        let pause = schedule.pause(after: failures, random: random)
        state = .waiting(until: now.monotonic + pause)
        nextAt = now.wall.advanced(by: pause)
    }
}
