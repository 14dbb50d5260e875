/// Topics that the service refuses are set aside: their entries wait, and all others go.
extension RouteJudge {
    /// Sets aside the topics of entries that were just refused for them. The entries wait unharmed.
    func setAside(_ evidence: Evidence, into plan: inout SettlementPlan, at now: Moment) {
        let refused = plan.refusedTopics.sorted { $0.flight.uid < $1.flight.uid }
        plan.refusedTopics = []
        for (ticket, flight, result) in refused {
            guard let topic = evidence.topics[lanes.key(flight.lane, flight.uid)] else {
                plan.readAgain(flight, ticket: ticket)
                continue
            }
            let cause: TopicHold.Cause = result.verdict == .laneStopped(.topic) ? .topic : .tokens
            wait(
                for: topic, flight, ticket: ticket, result, cause: cause, words: SettlementPlan.describe(result),
                into: &plan, at: now)
        }
    }

    /// Sets the topic of an entry aside, where it is not yet, and has the entry wait there.
    ///
    /// - Parameters:
    ///   - words: why, for people; nil for what is known already.
    ///   - spare: how many more entries of the topic go out without a pause.
    func wait(
        for topic: String, _ flight: SentWindow.Flight, ticket: Ticket, _ result: SendResult, cause: TopicHold.Cause,
        words: String?, spare: Int = 0, into plan: inout SettlementPlan, at now: Moment
    ) {
        let refusal = topicHold.refused(
            topic, lane: flight.lane, uid: flight.uid, cause: cause, words: words, spare: spare, configuration.probes,
            at: now, random: jitter.unit())
        plan.wait(
            flight, ticket: ticket, lane: lanes[flight.lane].id, until: refusal.due,
            reason: result.reason ?? .topicSetAside)
        plan.counts.deferred += 1
        if refusal.isNews {
            plan.news.append(
                .topicSetAside(
                    topic, because: words ?? SettlementPlan.describe(result),
                    kind: cause == .tokens ? .massBadTokens : .topicSetAside))
        }
    }

    /// An entry was answered, and may have been a topic's probe. One that is refused for its topic is not for this: see
    /// ``setAside(_:into:at:)``.
    func topicAnswered(
        _ flight: SentWindow.Flight, _ verdict: SendResult.Verdict, into plan: inout SettlementPlan, at now: Moment
    ) {
        guard topicHold.hasProbeOut, let cause = topicHold.causeTried(lane: flight.lane, flight.uid) else { return }
        guard cause != .silence else { return silentTopicAnswered(flight, verdict, into: &plan, at: now) }
        let isTold = !topicHold.isTrialOut(lane: flight.lane, flight.uid)
        switch flight.isBroadcast ? verdict.ofBroadcast : verdict {
        // Those have failed: see ``wait(for:_:ticket:_:cause:words:spare:into:at:)``.
        case .laneStopped(.topic): break
        case .rejected(.suspectToken) where cause == .tokens: break
        // Judged with the turn's other refusals: see ``settleRefusalOfTopic(_:ticket:_:into:at:)``.
        case .deferred(.token) where cause == .refusals, .deferred(.service) where cause == .refusals: break
        // Nothing is said of its token.
        case .rejected(.notification) where cause == .tokens: topicHold.ended(lane: flight.lane, flight.uid)
        case .confirmed, .rejected(.notification), .rejected(.token), .rejected(.suspectToken):
            if let topic = topicHold.taken(lane: flight.lane, flight.uid), isTold {
                plan.news.append(.topicBack(topic))
            }
        case .rejected(.request), .deferred, .neverProcessed, .foreign, .unknown, .laneStopped(.credentials):
            topicHold.lost(
                lane: flight.lane, flight.uid, configuration.probes, at: now, random: jitter.unit())
        }
    }

    /// Whether an entry that has to wait for its topic has waited for as long as any may. Nothing else ends it where the topic
    /// has bad tokens only, or is refused for ever.
    func isTooOldToWait(
        _ flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch
    ) -> Bool {
        clock.earliest.since(flight.acceptedAt) > configuration.retry.greatestAge
            && topicHold.endsByAge(String(decoding: batch.bytes[fields.topic], as: UTF8.self))
    }

    /// Whether an entry goes although its topic is set aside: for its tokens, and this is for a channel.
    func hasNoTokenToFear(isBroadcast: Bool, _ topic: String) -> Bool {
        isBroadcast && topicHold.isSetAsideForTokens(topic)
    }

    /// Whether an entry is accused of ending connections by itself, and its topic has waited for long: see ``Caution``.
    func isAccused(_ key: EntryKey, _ topic: String) -> Bool {
        caution.suspects[key] != nil && topicHold.mayBeEntries(topic)
    }

    /// Until when an entry has to wait for its topic; nil when it may go out on this connection.
    func waitForTopic(
        _ flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch, connection: Int,
        now: Duration
    ) -> WallTime? {
        let topic = String(decoding: batch.bytes[fields.topic], as: UTF8.self)
        if hasNoTokenToFear(isBroadcast: flight.isBroadcast, topic) { return nil }
        // It may be the entry that ends connections, and not its topic: then it has its trials.
        if isAccused(lanes.key(flight.lane, flight.uid), topic) { return nil }
        let check = topicHold.check(
            topic, lane: flight.lane, uid: flight.uid, connection: connection, now: now,
            limit: configuration.probes.answerLimit)
        if case .waits(let due) = check { return due }
        return nil
    }
}
