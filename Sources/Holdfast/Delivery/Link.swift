/// One connection, with what is in flight on it. A class, so that its windows are changed in place.
final class Link {
    /// Nil once it has ended; the link stays until everything in its windows is settled.
    var connection: (any Connection)?
    /// What is answered one by one, and what is settled without having been sent.
    var window = SentWindow()
    /// Nil where each notification has its own answer.
    var cumulative: CumulativeState?
    var capacity: Int
    /// How many of them the service works on at a time.
    var streams: Int
    /// Entries that it was given, ever.
    var handOuts = 0
    /// It has said that it takes nothing more.
    var isDraining = false
    /// It was told to end.
    var isClosing = false
    /// It has brought an answer.
    var hasWorked = false
    /// Entries that the service has confirmed on it, one by one.
    var confirmations = 0
    /// Turns in a row in which it processed nothing of what it was given.
    private(set) var refusals = 0
    /// Nothing goes to it before.
    var pausedUntil: Duration?
    /// Entries that it left without an answer, until ``Caution`` is told.
    var left: Caution.Leftover?
    /// How many entries the service has answered on it, until ``Caution`` is told.
    var answered = 0
    /// Conclusions were drawn from its end.
    var hasConcluded = false
    /// It took hand-outs when it said that it takes no more.
    var leavesByItself = false
    private var hasRefused = false
    private var hasAnswered = false

    /// What belongs to a connection on which only errors are answered.
    struct CumulativeState {
        enum Barrier {
            case none
            /// To be written as soon as new traffic has somewhere else to go.
            case wanted
            case written(deadline: Duration)
        }

        let connection: any CumulativeConnection
        var window = CumulativeWindow()
        /// Of the window's entries, those that an operator has taken back: *unknown*, whatever confirms their neighbours.
        var withdrawn: Set<EntryKey> = []
        var clock: QuietClock
        /// Everything up to here has left the machine.
        private(set) var sentThrough: UInt64 = 0
        /// Whether silence confirms; else the clock says when a barrier is due.
        let silenceCounts: Bool
        var barrier = Barrier.none
        /// That the end came before the proof was said.
        var isUnprovenSaid = false
        /// What an error may still deny.
        var quiet = QuietlyConfirmed()
        /// Topics of which silence has confirmed something, and nothing has proven that yet: with the position of the first
        /// of each. At most as many as the route tells apart at a time, and few on one connection.
        var quietTopics: [UInt32: UInt64] = [:]

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
    }

    init(_ connection: any Connection, mode: ConfirmationMode, barrierIdle: Duration) {
        self.connection = connection
        capacity = max(connection.capacity, 1)
        streams = max(min(connection.streams, connection.capacity), 1)
        guard case .cumulative(let quietPeriod) = mode else { return }
        guard let connection = connection as? any CumulativeConnection else {
            preconditionFailure("a connector with cumulative confirmation makes CumulativeConnections")
        }
        cumulative = CumulativeState(
            connection: connection,
            clock: QuietClock(period: quietPeriod ?? barrierIdle, tellsIdleOnly: quietPeriod == nil),
            silenceCounts: quietPeriod != nil)
    }

    /// For settlements that no connection has to do with.
    init() { (capacity, streams) = (1, 1) }

    /// What happens on it from here on happens at `now`, in this turn.
    func look(now: Duration, turn: UInt32) {
        window.look(now: now, turn: turn)
        cumulative?.clock.look(now: now)
    }

    /// One more answer of this turn.
    func note(_ verdict: SendResult.Verdict) {
        if case .neverProcessed = verdict { hasRefused = true } else { hasAnswered = true }
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

    /// Entries in flight.
    var count: Int { window.count + (cumulative?.window.count ?? 0) }

    /// Entries that count against its capacity: where only errors are answered, those that have not left yet.
    var load: Int { cumulative?.unsent ?? window.unanswered }
    /// Entries that the service would work on at once; what goes beyond waits in the connection.
    var freeStreams: Int { max(streams - load, 0) }

    /// Whether the next entries should rather go to this one: the service's streams before queues, then the lesser load for
    /// its size, then the fewer entries ever.
    func isBetter(than other: Link) -> Bool {
        if (freeStreams > 0) != (other.freeStreams > 0) { return freeStreams > 0 }
        let (mine, others) = (load * other.streams, other.load * streams)
        if mine != others { return mine < others }
        let (room, otherRoom) = (capacity - load - count, other.capacity - other.load - other.count)
        if cumulative != nil, room != otherRoom { return room > otherRoom }
        return handOuts < other.handOuts
    }

    var isOver: Bool { connection == nil && count == 0 }

    /// An entry goes to the connection.
    func handOut(_ flight: SentWindow.Flight) -> Ticket {
        cumulative != nil ? cumulative!.window.handOut(flight) : window.handOut(flight)
    }

    /// Those of `uids` (ascending) that are in flight on it.
    func inFlight(lane: Int, among uids: [UID]) -> [UID] {
        window.inFlight(lane: lane, among: uids) + (cumulative?.window.unconfirmed(lane: lane, among: uids) ?? [])
    }

    /// Whether the entry is with the connection, and not answered.
    func isWaitingFor(lane: Int, _ uid: UID) -> Bool {
        window.timeOut(lane: lane, uid) != nil || cumulative?.window.isUnconfirmed(lane: lane, uid) == true
    }
}
