/// Topics whose requests something else than the service answers are set aside, and all others go: see ``ForeignTopics``.
extension RouteJudge {
    /// Deals with a foreign answer that is about its topic, which is set aside: see ``ForeignTopics``.
    ///
    /// - Returns: false for any other answer, which is not dealt with.
    func isForeignToTopic(
        _ result: SendResult, _ flight: SentWindow.Flight, ticket: Ticket, into plan: inout SettlementPlan,
        at now: Moment
    ) -> Bool {
        guard result.verdict == .foreign, foreignTopics.foreign(flight.topic, now: now.monotonic),
            let name = breakers.name(of: flight.topic)
        else { return false }
        if lanes[flight.lane].probe.isProbe(flight.uid) {
            conclude(.failed, lane: flight.lane, topic: flight.topic, into: &plan, at: now)
        }
        let words =
            "what answers its requests is not the push service (\(Self.wrongAnswer(result))), which answers those of others"
        let refusal = topicHold.refused(
            name, lane: flight.lane, uid: flight.uid, cause: .server, words: words, configuration.probes, at: now,
            random: jitter.unit())
        plan.waitForBetterAnswer(
            flight, ticket: ticket, lane: lanes[flight.lane].id, result: result, until: refusal.due)
        if refusal.isNews { plan.news.append(.topicSetAside(name, because: words, kind: .topicSetAside)) }
        return true
    }

    /// Whether topics that something else than the service answers go on before others.
    var hasForeignBefore: Bool {
        foreignTopics.hasForeign
            && names(of: foreignTopics.behind).contains { !topicHold.isSetAside($0) }
    }

    /// Something of another topic is at hand: they wait, and it goes.
    func letOthersGoBeforeForeign(at now: Moment) {
        for name in names(of: foreignTopics.behind) {
            topicHold.tryOthers(
                than: name, cause: .server, words: "what answers its requests is not the push service",
                configuration.probes, at: now, random: jitter.unit())
        }
    }
}
