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
    private(set) var details: [UID: SettlementDetail] = [:]

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

    /// The connection ended without an answer to this one. The notification is not to blame, and is sent again at once.
    mutating func addUnanswered(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, possiblySent: Bool, wall: WallTime
    ) {
        if !possiblySent {
            returnUnprocessed(flight, ticket: ticket, lane: lane, reason: nil, wall: wall)
        } else if flight.hasOneAttempt {
            details[flight.uid] = SettlementDetail(sentAgo: sentAgo(flight))
            giveUpAsUnknown(EntryKey(lane: lane, uid: flight.uid), ticket: ticket)
        } else {
            requeue(flight, ticket: ticket, possiblySent: true)
        }
    }

    mutating func acknowledge(_ key: EntryKey, _ flight: SentWindow.Flight, ticket: Ticket) {
        now.batch.acknowledged.append(Acknowledgement(key, sentAgo: sentAgo(flight)))
        now.tickets.append(ticket)
        counts.confirmed += 1
    }

    /// Runs of a cumulative window that were taken by the service.
    ///
    /// - Parameters:
    ///   - isKeptAside: whether a late error may recall them.
    ///   - withdrawn: entries that an operator has taken back, which are not counted.
    mutating func acknowledge(
        _ runs: [CumulativeWindow.Run], lanes: [LaneID], basis: ConfirmationBasis, isKeptAside: Bool = false,
        withdrawn: Set<EntryKey> = []
    ) {
        for run in runs {
            let keys = run.uids.map { EntryKey(lane: lanes[run.lane], uid: UID($0)) }
            if isKeptAside {
                now.batch.quieted += keys
            } else {
                now.batch.acknowledged += keys.map { Acknowledgement($0) }
            }
            now.positions += run.count
            let count = withdrawn.isEmpty ? run.count : keys.count { !withdrawn.contains($0) }
            counts.confirmed += count
            switch basis {
            case .answer: continue
            case .barrier: counts.confirmedByBarrier += count
            case .quiet: counts.confirmedByQuiet += count
            }
            let through = UID(run.uids.upperBound)
            if let index = now.cleared.firstIndex(where: { $0.lane == run.lane && $0.basis == basis }) {
                now.cleared[index].count += count
                now.cleared[index].through = max(now.cleared[index].through, through)
            } else {
                now.cleared.append(Cleared(lane: run.lane, count: count, through: through, basis: basis))
            }
        }
    }

    /// An entry that must not be sent any more is settled by what may have become of it.
    mutating func expire(_ key: EntryKey, ticket: Ticket, possiblySent: Bool) {
        if possiblySent { return giveUpAsUnknown(key, ticket: ticket) }
        settle(key, .expire, ticket: ticket)
        counts.expired += 1
    }

    /// A newer notification stands for it.
    mutating func supersede(_ key: EntryKey, ticket: Ticket, possiblySent: Bool) {
        if possiblySent { return giveUpAsUnknown(key, ticket: ticket) }
        settle(key, .supersede, ticket: ticket)
        counts.superseded += 1
    }

    private func sentAgo(_ flight: SentWindow.Flight) -> SentAgo {
        ticks.map { SentAgo(milliseconds: AnswerClock.milliseconds(from: flight.handedOutAt, to: $0)) } ?? .unknown
    }

    private mutating func noteDetail(of flight: SentWindow.Flight, _ result: SendResult) {
        switch result.verdict {
        case .confirmed where result.uniqueID == nil: return
        case .confirmed, .rejected, .deferred, .unknown:
            details[flight.uid] = SettlementDetail(sentAgo: sentAgo(flight), uniqueID: result.uniqueID)
        case .neverProcessed, .laneStopped, .foreign: return
        }
    }

    /// Possibly sent, and never to be sent again.
    mutating func giveUpAsUnknown(_ key: EntryKey, ticket: Ticket) {
        settle(key, .unknown, ticket: ticket)
        counts.unknown += 1
    }

    /// A rejection that is ours. What may have been taken is not called rejected.
    mutating func reject(_ key: EntryKey, ticket: Ticket, reason: Reason, possiblySent: Bool, wall: WallTime) {
        if possiblySent { return giveUpAsUnknown(key, ticket: ticket) }
        settle(key, .reject(RejectionCause(reason: reason, rejectedAt: wall)), ticket: ticket)
        counts.rejected[reason, default: 0] += 1
    }

    /// The service has rejected it before a crash: its words are on the blacklist, and the settlement was lost.
    mutating func reject(_ key: EntryKey, ticket: Ticket, answered entry: BlacklistEntry, wall: WallTime) {
        let cause = RejectionCause(
            reason: entry.reason, status: entry.status, timestamp: entry.since, rejectedAt: wall)
        settle(key, .reject(cause), ticket: ticket)
        counts.rejected[entry.reason, default: 0] += 1
    }

    /// A suspect was found guilty: its entry is rejected, or tried in the other environment.
    mutating func convict(_ suspect: CircuitBreaker.Suspect, lane: LaneID, wall: WallTime) {
        var result = suspect.result
        noteDetail(of: suspect.flight, result)
        // The token is as bad as this answer is old, not as the judgement.
        result.timestamp = result.timestamp ?? suspect.answeredAt
        if let other = suspect.otherLane {
            return move(suspect, lane: lane, to: other, result: result, wall: wall)
        }
        reject(
            EntryKey(lane: lane, uid: suspect.flight.uid), ticket: suspect.ticket, flight: suspect.flight,
            fault: .token, result: result, wall: wall)
    }

    private mutating func move(
        _ suspect: CircuitBreaker.Suspect, lane: LaneID, to other: LaneID, result: SendResult, wall: WallTime
    ) {
        let (key, reason) = (EntryKey(lane: lane, uid: suspect.flight.uid), result.reason ?? .badDeviceToken)
        blacklist.append(
            BadToken(
                lane: suspect.flight.lane, uid: suspect.flight.uid, reason: reason, status: result.status,
                since: result.timestamp ?? wall))
        afterBlacklist.batch.others.append(Settlement(key, .move(to: other, due: wall, reason: reason)))
        counts.moved += 1
        afterBlacklist.tickets.append(suspect.ticket)
    }

    /// Its token is known to be bad here, and may be good in the other environment.
    mutating func move(_ key: EntryKey, ticket: Ticket, to other: LaneID, wall: WallTime) {
        settle(key, .move(to: other, due: wall, reason: .badDeviceToken), ticket: ticket)
        counts.moved += 1
    }

    private mutating func reject(
        _ key: EntryKey, ticket: Ticket, flight: SentWindow.Flight, fault: SendResult.Fault, result: SendResult,
        wall: WallTime
    ) {
        let reason = result.reason ?? Reason(rawValue: result.status.map { "Status\($0)" } ?? "Rejected")
        let cause = RejectionCause(
            reason: reason, status: result.status, timestamp: result.timestamp, rejectedAt: wall)
        counts.rejected[reason, default: 0] += 1
        let settlement = Settlement(key, .reject(cause))
        guard fault == .token else {
            now.batch.others.append(settlement)
            now.tickets.append(ticket)
            return
        }
        blacklist.append(
            BadToken(
                lane: flight.lane, uid: flight.uid, reason: reason, status: result.status,
                since: result.timestamp ?? wall))
        afterBlacklist.batch.others.append(settlement)
        afterBlacklist.tickets.append(ticket)
    }

    /// Not now, or nothing known: again after a while, with one more attempt counted in the journal.
    mutating func postpone(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, result: SendResult, retry: RetrySchedule,
        wall: WallTime, random: () -> Double
    ) {
        let key = EntryKey(lane: lane, uid: flight.uid)
        let isUnknown = result.verdict == .unknown
        let possiblySent = isUnknown || result.mayHaveBeenTaken || flight.possiblySentBefore
        if flight.hasOneAttempt, possiblySent { return giveUpAsUnknown(key, ticket: ticket) }
        let reason = result.reason ?? (isUnknown ? .noAnswer : .serviceUnavailable)
        countAttempt(
            flight, ticket: ticket, lane: lane, reason: reason, atTheEnd: .tooManyAttempts, possiblySent: possiblySent,
            retry: retry, retryAfter: result.retryAfter, wall: wall, random: random)
    }

    /// Again after a while, with one more attempt counted in the journal; rejected when it has had too many, or is too old.
    ///
    /// - Parameter atTheEnd: why it is rejected then.
    /// - Returns: when it is sent again; nil if it is rejected.
    @discardableResult
    mutating func countAttempt(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, reason: Reason, atTheEnd: Reason, possiblySent: Bool,
        retry: RetrySchedule, retryAfter: Duration? = nil, wall: WallTime, random: () -> Double
    ) -> WallTime? {
        let key = EntryKey(lane: lane, uid: flight.uid)
        let attempts = min(Int(flight.attempts) + 1, Int(UInt16.max))
        guard !retry.isExhausted(attempts: attempts, age: age(of: flight, wall: wall)) else {
            reject(key, ticket: ticket, reason: atTheEnd, possiblySent: possiblySent, wall: wall)
            return nil
        }
        let due = wall.advanced(by: retry.delay(attempt: attempts, retryAfter: retryAfter, random: random()))
        settle(
            key, .deferUntil(due, attempts: UInt16(attempts), reason: reason, possiblySent: possiblySent),
            ticket: ticket)
        counts.deferred += 1
        return due
    }

    /// For how long an entry has been accepted, at least.
    func age(of flight: SentWindow.Flight, wall: WallTime) -> Duration {
        (earliestNow ?? wall).since(flight.acceptedAt)
    }

    /// It was provably not processed: it is sent again without an attempt counted.
    ///
    /// One that has a single attempt lies below the send mark, so a crash would make it *unknown*. It goes by way of the
    /// deferred, due at once, which keeps what was proven.
    mutating func returnUnprocessed(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, reason: Reason?, wall: WallTime
    ) {
        guard flight.hasOneAttempt else {
            return requeue(flight, ticket: ticket, possiblySent: flight.possiblySentBefore)
        }
        wait(flight, ticket: ticket, lane: lane, until: wall, reason: reason ?? .neverProcessed)
        counts.requeued += 1
    }

    /// It has to wait for a reason that is not its own: among the deferred, its attempts untouched.
    ///
    /// - Parameter possiblySent: whether it may have been sent; `nil` for what is known from before.
    mutating func wait(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, until due: WallTime, reason: Reason,
        possiblySent: Bool? = nil
    ) {
        let kind = Settlement.Kind.deferUntil(
            due, attempts: flight.attempts, reason: reason, possiblySent: possiblySent ?? flight.possiblySentBefore)
        settle(EntryKey(lane: lane, uid: flight.uid), kind, ticket: ticket)
    }

    private mutating func settle(_ key: EntryKey, _ kind: Settlement.Kind, ticket: Ticket) {
        now.batch.others.append(Settlement(key, kind))
        now.tickets.append(ticket)
    }

    private mutating func requeue(_ flight: SentWindow.Flight, ticket: Ticket, possiblySent: Bool) {
        requeues.append(Requeue(lane: flight.lane, uid: flight.uid, possiblySent: possiblySent, ticket: ticket))
        counts.requeued += 1
    }

    static func describe(_ result: SendResult) -> String {
        let status = result.status.map { "\($0) " } ?? ""
        let detail = result.detail.map { " (\($0))" } ?? ""
        let reason = result.reason.map { $0 == .other ? "with \($0.words)" : $0.rawValue }
        return "the service answered \(status)\(reason ?? "without a reason")\(detail)"
    }
}
