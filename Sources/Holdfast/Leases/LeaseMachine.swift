/// Decides how long the owner of a journal may hand out. All instants are of one clock of its own host, which goes on while the
/// machine sleeps, and are compared with no other clock's.
///
/// A beat that was answered proves that nobody had taken the journal when the database carried it out, which was not before it
/// was sent. A taker waits from then on, and so the owner counts from the sending, however late the answer comes.
package struct LeaseMachine: Sendable {
    private enum State {
        case held
        /// For good: the journal has another owner, or none.
        case ended
    }

    private let times: LeaseTimes
    private var state = State.held
    private var end: Duration
    /// When the beat was sent that has no answer yet.
    private var sent: Duration?
    /// When the next beat is due.
    package private(set) var nextBeat: Duration

    /// How often the lease had run out when a beat was answered. While it does not, nobody can have taken the journal, not even in
    /// a database that is gone since.
    package private(set) var lapses = 0

    /// - Parameter sent: when the call was sent by which the journal was taken.
    package init(takenBySending sent: Duration, _ times: LeaseTimes) {
        self.times = times
        end = sent + times.hold
        nextBeat = sent + times.beat
    }

    /// Until when entries may be handed out; `nil` when never again. An instant that is over means: not now.
    package var handOutUntil: Duration? { state == .held ? end : nil }

    /// A beat is sent next.
    ///
    /// - Parameter now: read before the first byte leaves.
    package mutating func beatSent(at now: Duration) { sent = now }

    /// The beat was answered, and the database knows this owner.
    package mutating func beatAnswered(at now: Duration) {
        guard let sent else { return }
        self.sent = nil
        if now >= end { lapses += 1 }
        end = max(end, sent + times.hold)
        nextBeat = max(now, sent + times.beat)
    }

    /// The beat failed, or nobody knows what became of it. Neither proves anything.
    package mutating func beatFailed(at now: Duration) {
        sent = nil
        nextBeat = now + times.retry
    }

    /// The database knows another owner, or this one gives the journal up.
    package mutating func endOwnership() { state = .ended }
}
