/// Topics whose requests the service leaves unanswered wait, and all others go: see ``TopicSilence``.
extension RouteJudge {
    /// The service has answered an entry.
    func answered(_ flight: SentWindow.Flight, at now: Moment) {
        // It was slow, and no more.
        if silence.isOnTrial(flight.topic), let name = breakers.name(of: flight.topic) { topicHold.acquit(name) }
        let tried = silence.answered(flight.topic, handedOutIn: flight.handedOutIn, now: now.monotonic)
        for name in names(of: tried) { topicHold.hurryTrial(name, at: now) }
    }

    /// An entry had no answer until its deadline.
    func leftUnanswered(
        _ flight: SentWindow.Flight, on flights: Flights, into plan: inout SettlementPlan, at now: Moment
    ) {
        let name = breakers.name(of: flight.topic)
        switch silence.unanswered(flight.topic, handedOutIn: flight.handedOutIn) {
        case .nothing: break
        case .convicted(let requests):
            guard let name else { return }
            let words =
                "the push service has answered others, and left its last \(counted(requests, "request", "requests")) unanswered"
            if topicHold.convict(name, words: words, configuration.probes, at: now, random: jitter.unit()) {
                plan.news.append(.topicSetAside(name, because: words, kind: .topicSetAside))
            }
        }
        noteExplained(flight, on: flights)
    }

    /// That nothing comes of the entry is explained where its topic is known for that.
    private func noteExplained(_ flight: SentWindow.Flight, on flights: Flights) {
        guard !topicHold.isEmpty, let name = breakers.name(of: flight.topic) else { return }
        if topicHold.isSetAside(name, for: .silence) { flights.explained += 1 }
    }

    /// Something else than the silent topics is at hand: they wait, and it goes.
    ///
    /// - Returns: whether all of them wait.
    func letOthersGo(at now: Moment) -> Bool {
        let topics = silence.letOthersGo()
        tryOthers(than: topics, at: now)
        return names(of: topics).allSatisfy { topicHold.isSetAside($0) }
    }

    /// Topics that are never processed wait, whether there are others or not.
    func holdDropped(at now: Moment) {
        guard silence.hasDropped else { return }
        tryOthers(than: silence.holdDropped(), at: now)
    }

    func names(of topics: [UInt32]) -> [String] { topics.compactMap { breakers.name(of: $0) } }

    private func tryOthers(than topics: [UInt32], at now: Moment) {
        for topic in topics {
            guard let name = breakers.name(of: topic) else { continue }
            let words =
                silence.word(for: topic).map {
                    "the push service has not processed its last request: \(SettlementPlan.describe($0))"
                }
                ?? "the push service leaves its requests unanswered, or does not process them"
            topicHold.tryOthers(
                than: name, cause: .silence, words: words, configuration.probes, at: now, random: jitter.unit())
        }
    }

    /// A connection on which nothing was taken has ended with this entry. As the first one of the next connection, another one of its
    /// topic might end that one, too.
    func leftByUnproven(_ flight: SentWindow.Flight, on flights: Flights) {
        guard flights.cumulative == nil, flights.confirmations == 0 else { return }
        silence.left(flight.topic, flight.uid, handedOutIn: flight.handedOutIn)
    }

    /// The service has not processed this entry.
    ///
    /// - Parameter word: its answer that says so; nil for none.
    func neverProcessed(
        _ flight: SentWindow.Flight, _ remedy: SendResult.Remedy, _ word: SendResult?, on flights: Flights
    ) {
        noteExplained(flight, on: flights)
        defer { silence.said(word, to: flight.topic) }
        switch remedy {
        case .none: silence.dropped(flight.topic, handedOutIn: flight.handedOutIn)
        case .newConnection: leftByUnproven(flight, on: flights)
        case .newProviderToken: break
        }
    }

    /// Nothing else than the silent topics is at hand: it may be the service, and they go again.
    func foundNoOthers() {
        for name in names(of: silence.foundNoOthers()) { topicHold.acquit(name) }
    }

    /// Whether an entry could go before those of topics that fare worse than others, as far as its topic and its tag tell.
    func goesFirst(_ fields: PackedNotification.Fields, in batch: EntryBatch) -> Bool {
        goesFirst(breakers.number(of: fields.topic, in: batch.bytes)) && isFree(fields, in: batch)
    }

    /// The same, though the service may have refused its topic for now, of which it has taken something before.
    func wasTaken(_ fields: PackedNotification.Fields, in batch: EntryBatch) -> Bool {
        wasTaken(breakers.number(of: fields.topic, in: batch.bytes)) && isFree(fields, in: batch)
    }

    func wasTaken(_ topic: UInt32) -> Bool { credentialTopics.isProven(topic) && !silence.isBehind(topic) }

    private func isFree(_ fields: PackedNotification.Fields, in batch: EntryBatch) -> Bool {
        if !tagHold.isEmpty, tagHold.place(of: batch.bytes[fields.tag]) != nil { return false }
        return topicHold.isEmpty
            || !topicHold.isSetAside(String(decoding: batch.bytes[fields.topic], as: UTF8.self))
    }

    /// Whether the service has answered the last request of the topic, or left fewer unanswered than of those that keep others
    /// waiting, and has not refused it for now, and nothing else has answered in the service's place.
    func goesFirst(_ topic: UInt32) -> Bool {
        !silence.isBehind(topic) && !topicRefusals.contains(topic) && !foreignTopics.hasForeign(topic)
    }

    /// Whether no hold of an entry's topic keeps it.
    func mayGo(_ key: EntryKey, _ fields: PackedNotification.Fields, in batch: EntryBatch) -> Bool {
        guard !topicHold.isEmpty else { return true }
        let topic = String(decoding: batch.bytes[fields.topic], as: UTF8.self)
        return !topicHold.keeps(topic) || hasNoTokenToFear(isBroadcast: fields.isBroadcast, topic)
            || isAccused(key, topic)
    }

    /// The answer to a probe of a silent topic. Whatever it says, it is one.
    func silentTopicAnswered(
        _ flight: SentWindow.Flight, _ verdict: SendResult.Verdict, into plan: inout SettlementPlan, at now: Moment
    ) {
        switch verdict {
        case .unknown, .neverProcessed:
            topicHold.lost(
                lane: flight.lane, flight.uid, hasFailed: true, configuration.probes, at: now, random: jitter.unit())
        case .confirmed, .rejected, .deferred, .laneStopped, .foreign:
            let isTold = !topicHold.isTrialOut(lane: flight.lane, flight.uid)
            let topic = topicHold.taken(lane: flight.lane, flight.uid)
            if isTold, let topic { plan.news.append(.topicBack(topic)) }
        }
    }
}
