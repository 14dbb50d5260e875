/// Entries that go out again: at once, or after a while.
extension SettlementPlan {
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

    mutating func requeue(_ flight: SentWindow.Flight, ticket: Ticket, possiblySent: Bool) {
        requeues.append(Requeue(lane: flight.lane, uid: flight.uid, possiblySent: possiblySent, ticket: ticket))
        counts.requeued += 1
    }
}
