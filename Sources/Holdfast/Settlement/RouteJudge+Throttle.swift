/// A service that refuses for now: what is refused waits, and the route goes on as its throttle says.
extension RouteJudge {
    /// The refusals of a turn are judged with its other answers, and settled.
    func settleRefusals(in plan: inout SettlementPlan, inFlight: Int, at now: Moment) {
        guard !plan.answers.isEmpty else { return }
        refusedEntries.granted(plan.answers.granted)
        let known = plan.refusals.map {
            refusedEntries.refused(
                lanes.key($0.flight.lane, $0.flight.uid), recipient: $0.flight.recipient)
        }
        let (wasPaused, refusal) = (throttle.isPaused, plan.refusals.last?.result)
        let before = settleCauses(in: &plan, known: known, at: now)
        guard !plan.answers.isEmpty else { return }
        plan.answers.retryAfter = plan.answers.retryAfter.map { min($0, configuration.retry.maximum) }
        let last = plan.refusals.last.map { lanes.key($0.flight.lane, $0.flight.uid) }
        let judgement = throttle.take(
            plan.answers, isRepeated: plan.refusals.count == 1 && last == lastRefused, now: now.monotonic,
            random: { self.jitter.unit() })
        if let last { lastRefused = last }
        for (index, (ticket, flight, result)) in plan.refusals.enumerated() {
            let lane = lanes[flight.lane].id
            switch judgement {
            case .single:
                plan.postpone(
                    flight, ticket: ticket, lane: lane, result: result, retry: configuration.retry, wall: now.wall,
                    random: { self.jitter.unit() })
            case .service(let until):
                let delay = wait(for: result, until: until, refusedBefore: before[index], now: now.monotonic)
                plan.waitForService(
                    flight, ticket: ticket, lane: lane, result: result, retry: configuration.retry,
                    until: now.wall.advanced(by: delay), wall: now.wall)
            }
        }
        plan.news += throttleNews(
            wasPaused: wasPaused, refusal: refusal, inFlight: inFlight, at: now)
        plan.refusals = []
        plan.answers = RouteThrottle.Answers()
    }

    private func wait(for result: SendResult, until: Duration, refusedBefore: Int, now: Duration) -> Duration {
        // Behind the pause, so that the probe is another entry where there is one: this one may be the cause.
        let behind = (until - now) * (1.05 + 0.2 * jitter.unit()) + .milliseconds(20)
        // One that was refused before leaves the next probe to others.
        let own = refusedBefore > 0 ? throttle.policy.pause(refusedBefore) * (0.5 + jitter.unit() / 2) : .zero
        return min(max(behind, own, toldPause(of: result)), greatestWait)
    }

    /// How long the service has asked to wait, within bounds.
    func toldPause(of result: SendResult) -> Duration {
        result.retryAfter.map { min($0, configuration.retry.maximum) } ?? .zero
    }

    /// Defers entries that are refused again and again while others are taken: the refusal is about them, so they wait alone.
    /// Likewise for entries to a device of which nothing is taken, and for those of such a topic.
    ///
    /// - Returns: for each that is left, how often it was refused before.
    private func settleCauses(
        in plan: inout SettlementPlan, known: [(before: Int, isCause: Bool)], at now: Moment
    ) -> [Int] {
        guard !known.isEmpty else { return [] }
        let refusals = plan.refusals
        var before: [Int] = []
        plan.refusals = []
        var answers = RouteThrottle.Answers(
            granted: plan.answers.granted, known: plan.answers.known, others: plan.answers.others)
        for ((ticket, flight, result), known) in zip(refusals, known) {
            if known.isCause, topicHold.causeTried(lane: flight.lane, flight.uid) != .refusals {
                answers.others += 1
                topicHold.lost(
                    lane: flight.lane, flight.uid, configuration.probes, at: now, random: jitter.unit())
                plan.postpone(
                    flight, ticket: ticket, lane: lanes[flight.lane].id, result: result, retry: configuration.retry,
                    wall: now.wall, random: { self.jitter.unit() })
                continue
            }
            let kind = settleRefusalOfTopic(flight, ticket: ticket, result, into: &plan, at: now)
            if case .aboutTopic = kind {
                answers.others += 1
                continue
            }
            answers.count(refusal: result)
            if known.before == 0 { answers.fresh += 1 }
            if topicRefusals.isHurried(flight.topic) { answers.ofOtherTopics += 1 }
            guard case .none = kind else { continue }
            plan.refusals.append((ticket, flight, result))
            before.append(known.before)
        }
        plan.answers = answers
        return before
    }

    /// The throttle looks at the time.
    func lookAtThrottle(inFlight: Int, at now: Moment) -> [RouteNews] {
        guard throttle.isThrottling else { return [] }
        throttle.look(now: now.monotonic)
        return throttleNews(wasPaused: true, inFlight: inFlight, at: now)
    }

    /// - Parameter wasPaused: whether it was told already that nothing goes out.
    private func throttleNews(
        wasPaused: Bool, refusal: SendResult? = nil, inFlight: Int, at now: Moment
    ) -> [RouteNews] {
        guard throttle.isThrottling else {
            refusalShares = RefusalShares()
            guard throttled != nil else { return [] }
            throttled = nil
            return [.throttleEnded]
        }
        var throttled = throttled ?? EngineStatus.Throttle(since: now.wall)
        throttled.perSecond = throttle.pace?.perSecond
        if let refusal {
            (throttled.status, throttled.reason) = (refusal.status, refusal.reason)
            throttled.topics = refusalShares.blamed.compactMap { breakers.name(of: $0) }.sorted()
        }
        let wait = throttle.isPaused ? throttle.nextAllowance(inFlight: inFlight, now: now.monotonic) : nil
        let pause = wait.map { max($0 - now.monotonic, .zero) }
        let isPast = throttled.nextProbeAt.map { $0 <= now.wall } ?? false
        let before = pause == nil || refusal != nil || isPast ? nil : throttled.nextProbeAt
        throttled.nextProbeAt = pause.map { now.wallTime(of: now.monotonic + $0, before: before) }
        self.throttled = throttled
        return wasPaused ? [] : pause.map { [.throttled(throttled, wait: $0)] } ?? []
    }
}
