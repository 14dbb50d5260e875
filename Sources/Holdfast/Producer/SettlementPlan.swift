/// What the Producer decides about entries that were answered, as one turn's plan.
///
/// A pure function of the answers: the journal is written, and entries are put back into their lanes, by others.
struct SettlementPlan: Sendable {
    /// An entry that goes back into its lane, unharmed.
    struct Requeue: Hashable, Sendable {
        let lane: Int
        let uid: UID
        let possiblySent: Bool
        let ticket: Ticket
        /// Wait this long first. Such an entry stays among the unconfirmed ones, since it may have been taken.
        let delay: Duration?
    }

    /// Settlements, with the tickets to release when they are on disk.
    struct Part: Sendable {
        var batch = SettlementBatch()
        var tickets: [Ticket] = []
    }

    /// Tokens to blacklist; ``afterBlacklist`` may be settled only once this is on disk.
    var blacklist: [(lane: Int, uid: UID, reason: Reason, since: WallTime?)] = []
    var now = Part()
    var afterBlacklist = Part()
    var requeues: [Requeue] = []
    /// Lanes to stop, with the reason.
    var stops: [(lane: Int, cause: SendResult.StopCause, message: String)] = []
    var counts = Counts()

    /// How many entries met which end.
    struct Counts: Hashable, Sendable {
        var confirmed = 0
        var rejected: [Reason: Int] = [:]
        var expired = 0
        var unknown = 0
        var deferred = 0
        var requeued = 0
    }

    /// Decides about one answer.
    ///
    /// - Parameters:
    ///   - unknowns: how often this entry's attempts came to nothing known before, in this process.
    ///   - random: from 0 up to 1, for the backoff.
    mutating func add(
        _ result: SendResult, for flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, unknowns: Int,
        retry: RetrySchedule, wall: WallTime, random: () -> Double
    ) {
        let key = EntryKey(lane: lane, uid: flight.uid)
        switch result.verdict {
        case .confirmed:
            acknowledge(key, ticket: ticket)
        case .rejected(let fault):
            reject(key, ticket: ticket, flight: flight, fault: fault, result: result, wall: wall)
        case .deferred:
            postpone(key, ticket: ticket, flight: flight, result: result, retry: retry, wall: wall, random: random)
        case .neverProcessed:
            returnUnprocessed(key, flight, ticket: ticket, reason: result.reason, wall: wall)
        case .laneStopped(let cause):
            stops.append((flight.lane, cause, Self.describe(result)))
            returnUnprocessed(key, flight, ticket: ticket, reason: result.reason, wall: wall)
        case .unknown:
            if flight.hasOneAttempt || unknowns >= retry.greatestCount {
                giveUpAsUnknown(key, ticket: ticket)
            } else {
                let delay = retry.delay(attempt: unknowns + 1, random: random())
                requeue(flight, ticket: ticket, possiblySent: true, delay: delay)
            }
        }
    }

    /// The connection ended without an answer to this one. The notification is not to blame: it goes again at once.
    mutating func addUnanswered(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, possiblySent: Bool, wall: WallTime
    ) {
        let key = EntryKey(lane: lane, uid: flight.uid)
        if !possiblySent {
            returnUnprocessed(key, flight, ticket: ticket, reason: nil, wall: wall)
        } else if flight.hasOneAttempt {
            giveUpAsUnknown(key, ticket: ticket)
        } else {
            requeue(flight, ticket: ticket, possiblySent: true, delay: nil)
        }
    }

    mutating func acknowledge(_ key: EntryKey, ticket: Ticket) {
        now.batch.acknowledged.append(key)
        now.tickets.append(ticket)
        counts.confirmed += 1
    }

    /// An entry that must not be sent any more is settled by what may have become of it.
    mutating func expire(_ key: EntryKey, ticket: Ticket, possiblySent: Bool) {
        settle(key, possiblySent ? .unknown : .expire, ticket: ticket)
        if possiblySent { counts.unknown += 1 } else { counts.expired += 1 }
    }

    /// An entry that has one attempt, and may have had it in an earlier life of the process.
    mutating func giveUpAsUnknown(_ key: EntryKey, ticket: Ticket) {
        settle(key, .unknown, ticket: ticket)
        counts.unknown += 1
    }

    /// A rejection that is ours.
    mutating func reject(_ key: EntryKey, ticket: Ticket, reason: Reason, wall: WallTime) {
        settle(key, .reject(RejectionCause(reason: reason, rejectedAt: wall)), ticket: ticket)
        counts.rejected[reason, default: 0] += 1
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
        blacklist.append((flight.lane, flight.uid, reason, result.timestamp))
        afterBlacklist.batch.others.append(settlement)
        afterBlacklist.tickets.append(ticket)
    }

    private mutating func postpone(
        _ key: EntryKey, ticket: Ticket, flight: SentWindow.Flight, result: SendResult, retry: RetrySchedule,
        wall: WallTime, random: () -> Double
    ) {
        let attempts = Int(flight.attempts) + 1
        guard attempts < retry.greatestCount else {
            return reject(key, ticket: ticket, reason: .tooManyAttempts, wall: wall)
        }
        let delay: Duration
        if case .deferred(.credentials) = result.verdict {
            delay = .seconds(20 * 60)
        } else {
            delay = retry.delay(attempt: attempts, retryAfter: result.retryAfter, random: random())
        }
        let reason = result.reason ?? .serviceUnavailable
        settle(key, .deferUntil(wall.advanced(by: delay), attempts: UInt16(attempts), reason: reason, possiblySent: flight.possiblySentBefore), ticket: ticket)
        counts.deferred += 1
    }

    /// It was provably not processed: it goes again, its attempts untouched.
    ///
    /// One that has a single attempt lies below the send mark, so a crash would make it *unknown*. It goes by way of the
    /// deferred, due at once, which keeps what was proven.
    private mutating func returnUnprocessed(
        _ key: EntryKey, _ flight: SentWindow.Flight, ticket: Ticket, reason: Reason?, wall: WallTime
    ) {
        guard flight.hasOneAttempt else {
            return requeue(flight, ticket: ticket, possiblySent: flight.possiblySentBefore, delay: nil)
        }
        let kind = Settlement.Kind.deferUntil(wall, attempts: flight.attempts, reason: reason ?? .neverProcessed, possiblySent: flight.possiblySentBefore)
        settle(key, kind, ticket: ticket)
        counts.requeued += 1
    }

    private mutating func settle(_ key: EntryKey, _ kind: Settlement.Kind, ticket: Ticket) {
        now.batch.others.append(Settlement(key, kind))
        now.tickets.append(ticket)
    }

    private mutating func requeue(_ flight: SentWindow.Flight, ticket: Ticket, possiblySent: Bool, delay: Duration?) {
        requeues.append(
            Requeue(lane: flight.lane, uid: flight.uid, possiblySent: possiblySent, ticket: ticket, delay: delay))
        counts.requeued += 1
    }

    private static func describe(_ result: SendResult) -> String {
        let status = result.status.map { "\($0) " } ?? ""
        let detail = result.detail.map { " (\($0))" } ?? ""
        return "the service answered \(status)\(result.reason?.rawValue ?? "without a reason")\(detail)"
    }
}
