internal import Logging

/// A service that refuses for now: what is refused waits, and the route goes on as its throttle says.
extension Consumer {
    /// The throttle of a route that begins, or that goes on by way of another Consumer to the same service.
    static func throttle(
        _ configuration: EngineConfiguration, succeeding lanes: Lanes, connector: any Connector
    ) -> RouteThrottle {
        var policy = configuration.throttle
        // Where only errors are answered there is no answer to wait for.
        if connector.confirmationMode != .perNotification { policy.firstBurst = .max }
        guard case .takenOver(let other) = lanes, other.connector.endpoint == connector.endpoint else {
            return RouteThrottle(policy: policy, window: configuration.window)
        }
        var throttle = other.throttle
        throttle.change(to: policy, window: configuration.window)
        return throttle
    }

    /// The refusals of a turn are judged with its other answers, and settled.
    func settleRefusals(in plan: inout SettlementPlan, now: Duration, wall: WallTime) {
        guard !plan.answers.isEmpty else { return }
        refusedEntries.granted(plan.answers.granted)
        let known = plan.refusals.map {
            refusedEntries.refused(
                EntryKey(lane: lanes[$0.flight.lane].id, uid: $0.flight.uid), recipient: $0.flight.recipient)
        }
        settleCauses(in: &plan, known: known, wall: wall)
        guard !plan.answers.isEmpty else { return }
        plan.answers.retryAfter = plan.answers.retryAfter.map { min($0, configuration.retry.maximum) }
        let before = known.filter { !$0.isCause }.map(\.before)
        plan.answers.fresh = before.count { $0 == 0 }
        let wasPaused = throttle.isPaused
        let last = plan.refusals.last.map { EntryKey(lane: lanes[$0.flight.lane].id, uid: $0.flight.uid) }
        let judgement = throttle.take(
            plan.answers, isRepeated: plan.refusals.count == 1 && last == lastRefused, now: now,
            random: { self.randomUnit() })
        if let last { lastRefused = last }
        for (index, (ticket, flight, result)) in plan.refusals.enumerated() {
            let lane = lanes[flight.lane].id
            switch judgement {
            case .single:
                plan.postpone(
                    flight, ticket: ticket, lane: lane, result: result, retry: configuration.retry, wall: wall,
                    random: { self.randomUnit() })
            case .service(let until):
                let delay = wait(for: result, until: until, refusedBefore: before[index], now: now)
                plan.waitForService(
                    flight, ticket: ticket, lane: lane, result: result, retry: configuration.retry,
                    until: wall.advanced(by: delay), wall: wall)
            }
        }
        tellThrottle(wasPaused: wasPaused, refusal: plan.refusals.last?.result, now: now, wall: wall)
        plan.refusals = []
        plan.answers = RouteThrottle.Answers()
    }

    private func wait(for result: SendResult, until: Duration, refusedBefore: Int, now: Duration) -> Duration {
        // Behind the pause, so that the probe is another entry where there is one: this one may be the cause.
        let behind = (until - now) * (1.05 + 0.2 * randomUnit()) + .milliseconds(20)
        // One that was refused before leaves the next probe to others.
        let own = refusedBefore > 0 ? throttle.policy.pause(refusedBefore) * (0.5 + randomUnit() / 2) : .zero
        let told = result.retryAfter.map { min($0, configuration.retry.maximum) } ?? .zero
        return min(max(behind, own, told), greatestWait)
    }

    /// What is refused again and again, while others are taken, is refused for its own sake: it waits alone. So does what is
    /// for a device of which nothing is taken.
    private func settleCauses(in plan: inout SettlementPlan, known: [(before: Int, isCause: Bool)], wall: WallTime) {
        guard known.contains(where: \.isCause) else { return }
        let refusals = plan.refusals
        plan.refusals = []
        var answers = RouteThrottle.Answers(
            granted: plan.answers.granted, known: plan.answers.known, others: plan.answers.others)
        for ((ticket, flight, result), known) in zip(refusals, known) {
            if known.isCause {
                answers.others += 1
                plan.postpone(
                    flight, ticket: ticket, lane: lanes[flight.lane].id, result: result, retry: configuration.retry,
                    wall: wall, random: { self.randomUnit() })
            } else {
                plan.refusals.append((ticket, flight, result))
                answers.count(refusal: result)
            }
        }
        plan.answers = answers
    }

    /// When the throttle lets more out; nil when that takes no time, or takes an answer.
    func throttleWake(now: Duration) -> Duration? {
        guard throttle.isThrottling else { return nil }
        if !throttle.isPaused, !lanes.contains(where: { $0.handsOut && $0.hasWork }) { return throttle.forgetsAt }
        // Where something may go out already, it is something else that holds it up.
        var asked = throttle
        if asked.allowance(inFlight: inFlight, now: now) > 0 { return throttle.forgetsAt }
        return [throttle.nextAllowance(inFlight: inFlight, now: now), throttle.forgetsAt].compactMap { $0 }.min()
    }

    /// Why the route hands out nothing, for others to read: a probe that is under way is no end of the pause.
    var publishedHoldReason: HoldReason? {
        if let holdReason { return holdReason }
        return throttle.isHolding && lanes.contains { journal.depth($0.id) > 0 } ? .throttled : nil
    }

    // MARK: Telling the outside

    /// - Parameter wasPaused: whether it was told already that nothing goes out.
    func tellThrottle(wasPaused: Bool, refusal: SendResult? = nil, now: Duration, wall: WallTime) {
        guard throttle.isThrottling else {
            guard throttled != nil else { return }
            throttled = nil
            return log(.throttleEnded, "the service of route \(name) takes everything again")
        }
        var throttled = throttled ?? EngineStatus.Throttle(since: wall)
        throttled.perSecond = throttle.pace?.perSecond
        if let refusal { (throttled.status, throttled.reason) = (refusal.status, refusal.reason) }
        self.throttled = throttled
        guard !wasPaused, throttle.isPaused, let until = throttle.nextAllowance(inFlight: inFlight, now: now) else {
            return
        }
        var metadata: Logger.Metadata = ["wait-ms": .milliseconds(until - now)]
        if let status = refusal?.status { metadata["status"] = .count(status) }
        if let reason = refusal?.reason { metadata["reason"] = .string(reason.rawValue) }
        if let rate = throttled.perSecond { metadata["per-second"] = .stringConvertible(rate) }
        log(.throttled, "route \(name) is \(throttled): nothing is sent for \(until - now), then one probe", metadata)
    }
}
