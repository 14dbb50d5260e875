/// Entries in flight on one connection, and what its answers have shown of it. A class, so that its windows are changed in
/// place.
///
/// No connection is here: what answers lead to is decided by this alone.
final class Flights {
    /// The entries that are answered one by one, and those that are settled without being sent.
    var window = SentWindow()
    /// Nil where each notification has its own answer.
    var cumulative: CumulativeFlights?
    /// Entries that the connection was given, ever.
    var handOuts = 0
    /// It has brought an answer.
    var hasWorked = false
    /// Entries that the service has confirmed on it, one by one.
    var confirmations = 0
    /// The number of entries that the service has answered on it since ``Caution`` was last told.
    var answered = 0
    /// Entries that it left without an answer, and whose topics the service is known to leave unanswered.
    var explained = 0
    /// Entries that it left without an answer, until ``Caution`` is told.
    var left: Caution.Leftover?
    /// For how long any of them had been out.
    var longestLeft = Duration.zero
    /// Conclusions were drawn from its end.
    var hasConcluded = false
    /// The last answer that says that something was not processed.
    var unprocessed: SendResult?
    /// The topic of its last answer, if that has refused it, and when.
    private(set) var lastRefusal: (topic: UInt32, at: Duration)?
    /// The topic whose refusal was the last thing that it has answered before it took no more, if nothing of that is taken.
    var endedBy: UInt32?
    /// Whether it is known what has ended it, as far as its last answer tells.
    var isEndKnown = false
    /// Turns in a row in which it processed nothing of what it was given.
    private(set) var refusals = 0
    private var hasRefused = false
    private var hasAnswered = false

    /// - Parameter cumulative: nil where each notification has its own answer.
    init(_ cumulative: CumulativeFlights? = nil) { self.cumulative = cumulative }

    /// Sets the time and the turn of what happens from here on.
    func look(now: Duration, turn: UInt32) {
        window.look(now: now, turn: turn)
        cumulative?.clock.look(now: now)
    }

    /// Entries in flight.
    var count: Int { window.count + (cumulative?.window.count ?? 0) }

    /// Entries that count against the connection's capacity: where only errors are answered, those that have not left yet.
    var load: Int { cumulative?.unsent ?? window.unanswered }

    /// An entry goes to the connection.
    func handOut(_ flight: SentWindow.Flight) -> Ticket {
        cumulative != nil ? cumulative!.window.handOut(flight) : window.handOut(flight)
    }

    /// The entries among `uids` (ascending) that are in flight on it.
    func inFlight(lane: Int, among uids: [UID]) -> [UID] {
        window.inFlight(lane: lane, among: uids) + (cumulative?.window.unconfirmed(lane: lane, among: uids) ?? [])
    }

    /// Whether the entry is with the connection, and not answered.
    func isWaitingFor(lane: Int, _ uid: UID) -> Bool {
        window.timeOut(lane: lane, uid) != nil || cumulative?.window.isUnconfirmed(lane: lane, uid) == true
    }

    // MARK: Answers

    /// One more answer of this turn.
    func note(_ verdict: SendResult.Verdict, of topic: UInt32 = TopicBreakers.none, now: Duration = .zero) {
        if case .neverProcessed = verdict { hasRefused = true } else { hasAnswered = true }
        switch verdict {
        case .deferred, .laneStopped(.topic): lastRefusal = (topic, now)
        case .neverProcessed, .unknown: break
        case .confirmed, .rejected, .foreign, .laneStopped(.credentials): lastRefusal = nil
        }
    }

    /// The turn's answers are in. What is never processed goes again at once; where it is never processed again and again,
    /// that would be as fast as the machine can.
    ///
    /// - Returns: whether to pause.
    func isRefusing() -> Bool {
        defer { (hasRefused, hasAnswered) = (false, false) }
        if hasAnswered { refusals = 0 } else if hasRefused { refusals += 1 } else { return false }
        return refusals > 1
    }

    /// An entry was left without an answer, and may be why the connection has ended.
    func leaveBehind(_ key: EntryKey) { leaveBehind(key, through: key.uid) }

    /// Leaves behind the neighbours from `key` up to `last`.
    func leaveBehind(_ key: EntryKey, through last: UID) {
        var left = left ?? Caution.Leftover(key)
        left.add(key, through: last)
        self.left = left
    }
}

/// The state of a connection on which only errors are answered.
struct CumulativeFlights {
    enum Barrier {
        case none
        /// To be written as soon as new traffic has somewhere else to go.
        case wanted
        case written(deadline: Duration)
    }

    var window = CumulativeWindow()
    /// Of the window's entries, those that an operator has taken back: *unknown*, whatever confirms their neighbours.
    var withdrawn: Set<EntryKey> = []
    var clock: QuietClock
    /// Everything up to here has left the machine.
    private(set) var sentThrough: UInt64 = 0
    /// Whether silence confirms; else the clock says when a barrier is due.
    let silenceCounts: Bool
    var barrier = Barrier.none
    /// Whether the end before the proof was reported.
    var isUnprovenSaid = false
    /// The confirmed entries that a late error may still revoke.
    var quiet = QuietlyConfirmed()
    /// Topics of which silence has confirmed something, and nothing has proven that yet: with the position of the first
    /// of each. At most as many as the route tells apart at a time, and few on one connection.
    var quietTopics: [UInt32: UInt64] = [:]

    /// - Parameters:
    ///   - quietPeriod: how long silence lasts that confirms; nil where only a barrier does.
    ///   - barrierIdle: how long nothing goes out before a barrier is due, where silence does not confirm.
    init(quietPeriod: Duration?, barrierIdle: Duration) {
        clock = QuietClock(period: quietPeriod ?? barrierIdle, tellsIdleOnly: quietPeriod == nil)
        silenceCounts = quietPeriod != nil
    }

    /// Nothing is unconfirmed, but a barrier is to prove what silence has confirmed.
    var awaitsProof: Bool {
        if case .none = barrier { false } else { quiet.count > 0 }
    }

    /// Entries that were handed over and have not left yet.
    var unsent: Int { Int(window.nextPosition - 1 - sentThrough) }

    mutating func sent(through position: UInt64) {
        // What was never handed out can't have left, and must not be called quiet when it is.
        sentThrough = max(sentThrough, min(position, window.nextPosition - 1))
        clock.sent(through: sentThrough)
    }

    /// A barrier is always answered: where its answer is awaited, silence is that of a dead connection.
    var silenceConfirms: Bool {
        if case .written = barrier { false } else { silenceCounts }
    }

    /// When to look at it again; nil while only its connection can bring more.
    var nextLook: Duration? {
        if case .written(let deadline) = barrier { return deadline }
        return silenceCounts || !clock.isIdle ? clock.nextLook : nil
    }
}
