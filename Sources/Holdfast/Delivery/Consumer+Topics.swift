internal import Logging

/// Topics that the service refuses are set aside: their entries wait, and all others go.
extension Consumer {
    /// Sets aside the topics of entries that were just refused for them. The entries wait unharmed.
    ///
    /// - Throws: when the entries can't be read; nothing is changed then.
    func setAside(
        _ refused: [(ticket: Ticket, flight: SentWindow.Flight, result: SendResult)], connection: Int, now: Duration,
        wall: WallTime
    ) throws(JournalError) {
        guard !refused.isEmpty else { return }
        var topics: [[UID: String]] = []
        for lane in lanes.indices {
            let uids = refused.filter { $0.flight.lane == lane }.map(\.flight.uid).sorted()
            topics.append(uids.isEmpty ? [:] : try settler.topics(of: uids, lane: lanes[lane].id))
        }
        var plan = SettlementPlan()
        for (ticket, flight, result) in refused.sorted(by: { $0.flight.uid < $1.flight.uid }) {
            guard let topic = topics[flight.lane][flight.uid] else {
                // Settled by an earlier answer, and nothing waits; or unreadable, and to be moved aside. Reading it once more
                // tells which.
                links[connection]?.window.release(ticket)
                lanes[flight.lane].requeue([.init(uid: flight.uid, possiblySent: flight.possiblySentBefore)])
                continue
            }
            let cause: TopicHold.Cause = result.verdict == .laneStopped(.topic) ? .topic : .tokens
            wait(
                for: topic, flight, ticket: ticket, result, cause: cause, words: SettlementPlan.describe(result),
                into: &plan, now: now, wall: wall)
        }
        forgetIfOver(connection)
        carryOut(plan, connection: connection, now: now, wall: wall)
    }

    /// Sets the topic of an entry aside, where it is not yet, and has the entry wait there.
    ///
    /// - Parameters:
    ///   - words: why, for people; nil for what is known already.
    ///   - spare: how many more entries of the topic go out without a pause.
    func wait(
        for topic: String, _ flight: SentWindow.Flight, ticket: Ticket, _ result: SendResult, cause: TopicHold.Cause,
        words: String?, spare: Int = 0, into plan: inout SettlementPlan, now: Duration, wall: WallTime
    ) {
        let refusal = topicHold.refused(
            topic, lane: flight.lane, uid: flight.uid, cause: cause, words: words, spare: spare, configuration.probes,
            now: now, wall: wall, random: randomUnit())
        plan.wait(
            flight, ticket: ticket, lane: lanes[flight.lane].id, until: refusal.due,
            reason: result.reason ?? .topicSetAside)
        plan.counts.deferred += 1
        if refusal.isNews { tellSetAside(topic, because: words ?? SettlementPlan.describe(result)) }
    }

    /// Whether an entry that has to wait for a topic whose tokens are called bad has waited for as long as any may. Nothing
    /// else ends it where the topic has bad tokens only.
    func isTooOldToWait(
        _ flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch, wall: WallTime
    ) -> Bool {
        clockReading.earliest.since(flight.acceptedAt) > configuration.retry.greatestAge
            && topicHold.isSetAsideForTokens(String(decoding: batch.bytes[fields.topic], as: UTF8.self))
    }

    /// Until when an entry has to wait for its topic; nil when it may go out on this connection.
    func waitForTopic(
        _ flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch, connection: Int,
        now: Duration
    ) -> WallTime? {
        let topic = String(decoding: batch.bytes[fields.topic], as: UTF8.self)
        // It has no token.
        if flight.isBroadcast, topicHold.isSetAsideForTokens(topic) { return nil }
        let check = topicHold.check(
            topic, lane: flight.lane, uid: flight.uid, connection: connection, now: now,
            limit: configuration.probes.answerLimit)
        if case .waits(let due) = check { return due }
        return nil
    }

    // MARK: Answers

    /// An entry was answered, and may have been a topic's probe. One that is refused for its topic is not for this: see
    /// ``setAside(_:connection:now:wall:)``.
    func topicAnswered(_ flight: SentWindow.Flight, _ verdict: SendResult.Verdict, now: Duration, wall: WallTime) {
        guard topicHold.hasProbeOut, let cause = topicHold.causeTried(lane: flight.lane, flight.uid) else { return }
        switch flight.isBroadcast ? verdict.ofBroadcast : verdict {
        // Those have failed: see ``wait(for:_:ticket:_:cause:words:spare:into:now:wall:)``.
        case .laneStopped(.topic): break
        case .rejected(.suspectToken) where cause == .tokens: break
        // Nothing is said of its token.
        case .rejected(.notification) where cause == .tokens: topicHold.ended(lane: flight.lane, flight.uid)
        case .confirmed, .rejected(.notification), .rejected(.token), .rejected(.suspectToken):
            if let topic = topicHold.taken(lane: flight.lane, flight.uid) { tellBack(topic) }
        case .rejected(.request), .deferred, .neverProcessed, .foreign, .unknown, .laneStopped(.credentials):
            topicHold.lost(
                lane: flight.lane, flight.uid, configuration.probes, now: now, wall: wall, random: randomUnit())
        }
    }

    func tellBack(_ topic: String) {
        log(.topicBack, "the service takes topic \(topic) on route \(name) again", ["topic": .string(topic)])
        events.emit(.topicBack(route: name, topic: topic))
    }

    private func tellSetAside(_ topic: String, because words: String) {
        log(
            .topicSetAside,
            "topic \(topic) is set aside on route \(name), and all others go: \(words). One entry of it is tried now and then",
            ["topic": .string(topic), "reason": .string(words)])
        events.emit(.topicSetAside(route: name, topic: topic, reason: words))
    }

    // MARK: Entries that wait for their topic

    /// Brings back what waits for a topic that the service takes again, and one entry of each that is to be tried.
    ///
    /// - Parameter isTurn: whether it is a lane's turn.
    func callBackForTopics(in isTurn: (Int) -> Bool) {
        for lane in lanes.indices where topicHold.mayCall(lane: lane) && isTurn(lane) && canPromote(lane) {
            guard let call = topicHold.call(lane: lane, limit: promotionLimit(lane)),
                !call.isForProbe || againCount(in: lane) == 0
            else { continue }
            guard promote(lane, after: call.after, through: call.through, limit: call.limit) else { continue }
            topicCalls[lane] = call
            haveHadDue.remove(lane)
        }
    }

    /// Whether something that waits for its topic is worth a connection.
    var topicsWantConnection: Bool {
        lanes.indices.contains { topicHold.wantsConnection(lane: $0) && mayPromoteOnceConnected($0) }
    }

    /// Why nothing of a running lane goes although there is something; nil when something may go.
    func topicReason(_ index: Int) -> String? {
        guard !topicHold.isEmpty, lanes[index].isRunning, !lanes[index].hasWork, deferredDue[index] == nil else {
            return nil
        }
        return topicHold.reason(lane: index)
    }
}
