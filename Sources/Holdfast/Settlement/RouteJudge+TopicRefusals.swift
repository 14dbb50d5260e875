/// Topics that the service refuses for now wait, where it takes others, and all others go: see ``TopicRefusals``.
extension RouteJudge {
    /// What a refusal for now is about, as far as the topic of its entry tells.
    enum RefusalOfTopic {
        /// It is for the throttle.
        case none
        /// The topic is on trial: the entry waits for it, and the refusal counts for the throttle.
        case onTrial
        /// The refusal is about its topic, for which it waits.
        case aboutTopic
    }

    /// An entry was taken, or refused for a reason of its own.
    func topicTaken(_ flight: SentWindow.Flight) {
        topicRefusals.taken(flight.topic, handedOutIn: flight.handedOutIn)
        if throttle.isThrottling { refusalShares.taken(flight.topic) }
    }

    /// Settles a refusal that is about the entry's topic, or of the probe of one on trial.
    func settleRefusalOfTopic(
        _ flight: SentWindow.Flight, ticket: Ticket, _ result: SendResult, into plan: inout SettlementPlan,
        at now: Moment
    ) -> RefusalOfTopic {
        let name = breakers.name(of: flight.topic)
        refusalShares.refused(flight.topic, handedOutIn: flight.handedOutIn)
        let requests = topicRefusals.refused(
            flight.topic, device: flight.recipient, handedOutIn: flight.handedOutIn)
        let words = requests.map {
            "the push service has taken others, and refused its last \($0) requests for now: "
                + SettlementPlan.describe(result)
        }
        let told = max(toldPause(of: result), pauseOfRefused(flight.topic))
        guard let name, words != nil || topicHold.isSetAside(name, for: .refusals) else {
            let due = topicHold.failed(
                lane: flight.lane, flight.uid, refusalProbes, atLeast: told, at: now, random: jitter.unit())
            guard let due else { return .none }
            plan.waitForService(
                flight, ticket: ticket, lane: lanes[flight.lane].id, result: result, retry: configuration.retry,
                until: due, wall: now.wall)
            return .onTrial
        }
        let refusal = topicHold.refused(
            name, lane: flight.lane, uid: flight.uid, cause: .refusals, words: words, refusalProbes, atLeast: told,
            at: now, random: jitter.unit())
        plan.waitForService(
            flight, ticket: ticket, lane: lanes[flight.lane].id, result: result, retry: configuration.retry,
            until: refusal.due, wall: now.wall)
        if refusal.isNews {
            plan.news.append(
                .topicSetAside(name, because: words ?? SettlementPlan.describe(result), kind: .topicSetAside))
            if !topicRefusals.areOthersRefused(than: flight.topic) { throttle.beginAnew() }
        }
        return .aboutTopic
    }

    /// Whether the route's next request is to be of a topic that was not refused, if there is one. Where the service has asked for a
    /// long pause, one try is enough: it may be the topic's.
    ///
    /// - Parameter isExposed: whether a refusal may cost others their connection, which some services end with it.
    func looksForOtherTopic(now: Duration, isExposed: () -> Bool) -> Bool {
        if throttle.isPaused {
            return throttle.mayProbeOthers(now: now) && topicRefusals.letsOthersGo(tries: throttle.isAsked ? 1 : 2)
        }
        return topicRefusals.letsOthersGo(tries: 2) && (throttle.isToProbe || isExposed())
    }

    /// Something else than the refused topics is at hand: they wait, and it goes.
    func letOthersGoBeforeRefused(at now: Moment) {
        let told = throttle.probeOthers(now: now.monotonic)
        for topic in topicRefusals.letOthersGo() {
            guard let name = breakers.name(of: topic) else { continue }
            topicHold.tryOthers(
                than: name, cause: .refusals, words: "the push service refuses its requests for now", refusalProbes,
                atLeast: max(told, pauseOfRefused(topic)), at: now, random: jitter.unit())
        }
    }

    /// Topics that wait since they were refused, with all others, need not wait longer, where something of them was taken before:
    /// those that went before them are not answered.
    ///
    /// - Returns: whether there are any.
    func tryRefusedAgain(at now: Moment) -> Bool {
        let topics = topicHold.refusedOnTrial.filter { wasTaken(breakers.number(of: $0)) }
        for topic in topics { topicHold.hurry(topic, at: now) }
        return !topics.isEmpty
    }

    /// How long a topic is not tried, at least, whose refusals end connections.
    func pauseOfRefused(_ topic: UInt32) -> Duration {
        min(topicRefusals.pause(of: topic), configuration.throttle.maximumPause)
    }

    /// As a throttled route is probed.
    private var refusalProbes: ProbeSchedule {
        var schedule = configuration.probes
        (schedule.minimum, schedule.maximum) = (
            configuration.throttle.minimumPause, configuration.throttle.maximumPause
        )
        return schedule
    }
}
