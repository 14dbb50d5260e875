/// Entries that must not go out, or not now.
extension RouteJudge {
    /// Finds what the entry itself, the blacklist and the suspects have against it.
    ///
    /// - Parameter entries: of its token, on the blacklist.
    func obstacle(
        to flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch,
        _ entries: [BlacklistEntry]?, wall: WallTime
    ) -> Obstacle? {
        if flight.possiblySentBefore, let answer = entries?.first(where: { isAnswer($0, to: flight) }) {
            return .wasRejected(answer)
        }
        if flight.hasOneAttempt, flight.possiblySentBefore { return .hadItsAttempt }
        if fields.isExpired(at: wall) {
            guard let until = clock.distrustedUntil else { return .expired }
            let due = clockHold.hold(lane: flight.lane, distrustedUntil: until, wall: wall)
            return .mustWait(due.since(wall), .clockDistrusted)
        }
        guard entries != nil || !suspectTokens.isEmpty, !fields.isBroadcast else {
            return nil
        }
        let topic = String(decoding: batch.bytes[fields.topic], as: UTF8.self)
        let forbidding = TokenBlacklist.forbidding(
            entries ?? [], topic: topic, endpoint: service, registeredAt: fields.tokenRegisteredAt,
            now: wall)
        if forbidding != nil { return .blacklisted }
        if suspectTokens.contains(TokenOfTopic(recipient: fields.recipient(in: batch.bytes), topic: topic)) {
            return .mustWait(configuration.suspects.hold, .suspectToken)
        }
        return nil
    }

    /// Whether this came from the answer to the entry. What the other environment has said of a moved one is no answer here.
    private func isAnswer(_ entry: BlacklistEntry, to flight: SentWindow.Flight) -> Bool {
        entry.answered == flight.uid && (!flight.isMoved || entry.scope.covers(topic: nil, endpoint: service))
    }

    /// Settles an entry that must not go out.
    func withhold(
        _ flight: SentWindow.Flight, because obstacle: Obstacle, on flights: Flights, wall: WallTime,
        plan: inout SettlementPlan
    ) {
        let ticket = flights.window.settleUnsent(flight)
        let lane = lanes[flight.lane].id
        let key = EntryKey(lane: lane, uid: flight.uid)
        switch obstacle {
        case .wasRejected(let entry): plan.reject(key, ticket: ticket, answered: entry, wall: wall)
        case .hadItsAttempt: plan.giveUpAsUnknown(key, ticket: ticket)
        case .expired: plan.expire(key, ticket: ticket, possiblySent: flight.possiblySentBefore)
        case .blacklisted:
            plan.reject(key, ticket: ticket, reason: .blacklisted, possiblySent: flight.possiblySentBefore, wall: wall)
        case .otherEnvironment(let other):
            plan.move(key, ticket: ticket, to: other, possiblySent: flight.possiblySentBefore, wall: wall)
            plan.news.append(.moved(lanes[flight.lane].key, 1))
        case .unsupported:
            plan.reject(
                key, ticket: ticket, reason: .recipientUnsupported, possiblySent: flight.possiblySentBefore, wall: wall)
        case .superseded: plan.supersede(key, ticket: ticket, possiblySent: flight.possiblySentBefore)
        case .tooOld:
            plan.reject(key, ticket: ticket, reason: .expired, possiblySent: flight.possiblySentBefore, wall: wall)
        case .topicSetAside(let due):
            plan.wait(flight, ticket: ticket, lane: lane, until: due, reason: .topicSetAside)
        case .tagPaused(let due): plan.wait(flight, ticket: ticket, lane: lane, until: due, reason: .tagPaused)
        case .endsConnections(let ends, let counts):
            putAside(flight, ticket: ticket, ends: ends, counts: counts, wall: wall, plan: &plan)
        case .mustWait(let duration, let reason):
            plan.wait(flight, ticket: ticket, lane: lane, until: wall.advanced(by: duration), reason: reason)
        case .scheduled(let time):
            plan.wait(
                flight, ticket: ticket, lane: lane, until: ScheduledPlace.due(for: time), reason: .scheduled)
        }
    }

    /// Finds what its topic, and the connections that it has ended, have against it. The last question of all: it may go as
    /// the probe of its topic, and one that had to wait for others then would keep those of its topic waiting, which may be all
    /// that it waits for.
    func laterObstacle(
        to flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch, connection: Int,
        at now: Moment
    ) -> Obstacle? {
        if caution.hasSuspects, let obstacle = suspicion(of: flight) { return obstacle }
        guard !topicHold.isEmpty,
            let due = waitForTopic(flight, fields, in: batch, connection: connection, now: now.monotonic)
        else { return nil }
        return isTooOldToWait(flight, fields, in: batch) ? .tooOld : .topicSetAside(until: due)
    }
}
