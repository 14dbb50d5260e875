/// One turn's decisions about entries of one connection, as ``RouteJudge`` makes them and one place performs them.
///
/// A pure value: the journal is written, and entries are put back into their lanes, by others.
struct SettlementPlan: Sendable {
    /// An entry that goes back into its lane, unharmed.
    struct Requeue: Hashable, Sendable {
        let lane: Int
        let uid: UID
        let possiblySent: Bool
        let ticket: Ticket
    }

    /// Settlements, with what to release when they are on disk.
    struct Part: Sendable {
        var batch = SettlementBatch()
        var tickets: [Ticket] = []
        /// The number of entries of the connection's cumulative window.
        var positions = 0
        /// The entries that silence or a barrier has confirmed.
        var cleared: [Cleared] = []
        /// The late error to complete when the entries that it revokes have been recalled.
        var recalls: LateError?
        /// The operator's request to answer, if there is one.
        var withdrawal: Withdrawal?
    }

    /// Entries that an operator has taken back.
    struct Withdrawal: Sendable {
        let asked: Int
        let completion: @Sendable (Result<Holdfast.Withdrawal, JournalError>) -> Void

        func answer(_ result: Result<SettlementReport, JournalError>) {
            completion(result.map { Holdfast.Withdrawal($0, asked: asked) })
        }
    }

    /// Entries of one lane that were confirmed together.
    struct Cleared: Hashable, Sendable {
        let lane: Int
        var count: Int
        /// The greatest of them.
        var through: UID
        let basis: ConfirmationBasis
    }

    /// A token to blacklist.
    struct BadToken: Sendable {
        let lane: Int
        let uid: UID
        let reason: Reason
        let status: Int?
        let since: WallTime
    }

    /// Settlements may follow only once this is on disk: see ``afterBlacklist``.
    var blacklist: [BadToken] = []
    var now = Part()
    var afterBlacklist = Part()
    var requeues: [Requeue] = []
    /// Neighbours that go back into their lanes, from a cumulative window that has let them go.
    var requeuedRuns: [(lane: Int, run: RequeuedRuns.Run)] = []
    /// Lanes to stop, with the reason; nil for all.
    var stops: [(lane: Int?, cause: SendResult.StopCause, message: String)] = []
    /// Lanes that the breaker stops; nil for all.
    var trips: [(lane: Int?, message: String)] = []
    /// The service wants no new provider tokens for a while.
    var parks = false
    /// Called bad, and to be judged when their tokens are known: neither settled nor released.
    var suspects: [(ticket: Ticket, flight: SentWindow.Flight, result: SendResult)] = []
    /// Refused for now: about themselves or about the service, as the throttle judges.
    var refusals: [(ticket: Ticket, flight: SentWindow.Flight, result: SendResult)] = []
    var answers = RouteThrottle.Answers()
    /// Refused for their topics, which are to be set aside when they are known: neither settled nor released.
    var refusedTopics: [(ticket: Ticket, flight: SentWindow.Flight, result: SendResult)] = []
    var counts = SettlementCounts()
    /// The confirmed entries of ``counts``, by since when they could go.
    var confirmed = ConfirmedRuns()
    /// Lanes that run again.
    var laneChanges: [LaneChange] = []
    /// Silence was wrong: what it has confirmed is to be recalled.
    var lateErrors: [LateError] = []
    /// Nothing goes out on the route before this plan is on disk: what goes back into its lanes goes first.
    var holdsRoute = false
    /// The connection takes nothing more.
    var leaves = false
    var news: [RouteNews] = []
    /// The earliest time that it may be: ages count by it, since giving up for age is final. Nil for the wall clock's.
    var earliestNow: WallTime?
    /// The time of the turn, in the ticks of ``AnswerClock``; nil where nothing in the plan was answered just now.
    var ticks: UInt32?
    /// What outcomes say beside the settlements.
    var details: [UID: SettlementDetail] = [:]

    /// Whether something has to be read from entries before it is decided about: see ``Evidence``.
    var asksForEvidence: Bool { !suspects.isEmpty || !refusedTopics.isEmpty }

    /// Decides about one answer.
    ///
    /// - Parameter random: from 0 up to 1, for the backoff.
    mutating func add(
        _ result: SendResult, for flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, retry: RetrySchedule,
        wall: WallTime, random: () -> Double
    ) {
        let key = EntryKey(lane: lane, uid: flight.uid)
        noteDetail(of: flight, result)
        switch flight.isBroadcast ? result.verdict.ofBroadcast : result.verdict {
        case .confirmed:
            acknowledge(key, flight, ticket: ticket)
        case .rejected(.suspectToken):
            suspects.append((ticket, flight, result))
        case .rejected(let fault):
            reject(key, ticket: ticket, flight: flight, fault: fault, result: result, wall: wall)
        case .deferred(.credentials):
            parks = true
            returnUnprocessed(flight, ticket: ticket, lane: lane, reason: result.reason, wall: wall)
        case .deferred, .unknown:
            postpone(flight, ticket: ticket, lane: lane, result: result, retry: retry, wall: wall, random: random)
        case .neverProcessed:
            returnUnprocessed(flight, ticket: ticket, lane: lane, reason: result.reason, wall: wall)
        case .laneStopped(.topic):
            refusedTopics.append((ticket, flight, result))
        case .laneStopped(let cause):
            stops.append((flight.lane, cause, Self.describe(result)))
            returnUnprocessed(flight, ticket: ticket, lane: lane, reason: result.reason, wall: wall)
        case .foreign:
            addUnanswered(
                flight, ticket: ticket, lane: lane, possiblySent: result.isForeignSuccess || flight.possiblySentBefore,
                wall: wall)
        }
    }

    /// Decides about what the service has said of a connection as a whole.
    mutating func add(word result: SendResult) {
        switch result.verdict {
        case .laneStopped(let cause): stops.append((nil, cause, Self.describe(result)))
        case .deferred(.credentials): parks = true
        case .confirmed, .rejected, .deferred, .neverProcessed, .foreign, .unknown: return
        }
    }

    func sentAgo(_ flight: SentWindow.Flight) -> SentAgo {
        ticks.map { SentAgo(milliseconds: AnswerClock.milliseconds(from: flight.handedOutAt, to: $0)) } ?? .unknown
    }

    mutating func noteDetail(of flight: SentWindow.Flight, _ result: SendResult) {
        switch result.verdict {
        case .confirmed where result.uniqueID == nil: return
        case .confirmed, .rejected, .deferred, .unknown:
            details[flight.uid] = SettlementDetail(sentAgo: sentAgo(flight), uniqueID: result.uniqueID)
        case .neverProcessed, .laneStopped, .foreign: return
        }
    }

    /// Ends an entry, or lets it wait, and releases its place when that is on disk.
    mutating func settle(_ key: EntryKey, _ kind: Settlement.Kind, ticket: Ticket) {
        now.batch.others.append(Settlement(key, kind))
        now.tickets.append(ticket)
    }

    static func describe(_ result: SendResult) -> String {
        let status = result.status.map { "\($0) " } ?? ""
        let detail = result.detail.map { " (\($0))" } ?? ""
        let reason = result.reason.map { $0 == .other ? "with \($0.words)" : $0.rawValue }
        return "the service answered \(status)\(reason ?? "without a reason")\(detail)"
    }
}
