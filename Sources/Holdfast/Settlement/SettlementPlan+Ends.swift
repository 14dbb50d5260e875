/// Ends other than by the service's taking the entry.
extension SettlementPlan {
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
        let move = Settlement.Kind.move(
            to: other, due: wall, reason: reason, possiblySent: suspect.flight.possiblySentBefore)
        afterBlacklist.batch.others.append(Settlement(key, move))
        counts.moved += 1
        afterBlacklist.tickets.append(suspect.ticket)
    }

    /// Its token is known to be bad here, and may be good in the other environment.
    mutating func move(_ key: EntryKey, ticket: Ticket, to other: LaneID, possiblySent: Bool, wall: WallTime) {
        let move = Settlement.Kind.move(
            to: other, due: wall, reason: .badDeviceToken, possiblySent: possiblySent)
        settle(key, move, ticket: ticket)
        counts.moved += 1
    }

    /// The service has rejected it: its token goes on the blacklist first, if that is what was wrong.
    mutating func reject(
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
}
