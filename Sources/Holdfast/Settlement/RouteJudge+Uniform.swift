/// Answers that are not the service's, and refusals that are all the same.
extension RouteJudge {
    /// Handles an answer that is not the service's, or that is one too many of its kind. The entry waits without an attempt
    /// counted, and the lane stops if such answers go on. To a stopped lane it is a failed probe.
    ///
    /// - Returns: false for any other answer, which is not handled.
    func isUniform(
        _ result: SendResult, for flight: SentWindow.Flight, ticket: Ticket, plan: inout SettlementPlan, at now: Moment
    ) -> Bool {
        guard let kind = UniformRefusals.Kind(result, isBroadcast: flight.isBroadcast) else { return false }
        let isOneTooMany = lanes[flight.lane].uniform.refused(kind, policy: configuration.suspects)
        // 421 says by itself that the request has come to the wrong server (RFC 9110, section 15.5.20).
        let isTooMany = isOneTooMany || kind == .foreign && result.status == 421
        if kind == .foreign { plan.news.append(.foreignAnswer(Self.wrongAnswer(result))) }
        let lane = lanes[flight.lane].id
        let isFailedProbe = (isTooMany || kind == .foreign) && lanes[flight.lane].probe.isProbe(flight.uid)
        if isFailedProbe { conclude(.failed, lane: flight.lane, topic: flight.topic, into: &plan, at: now) }
        switch kind {
        case .foreign where isTooMany:
            plan.trips.append((nil, Self.wrongServer(result)))
            if isFailedProbe {
                // Behind all others of the lane.
                plan.waitForBetterAnswer(flight, ticket: ticket, lane: lane, result: result, until: now.wall)
            } else {
                plan.add(
                    result, for: flight, ticket: ticket, lane: lane, retry: configuration.retry, wall: now.wall,
                    random: { 0 })
            }
        case .foreign:
            let delay = configuration.throttle.maximumPause * (0.5 + jitter.unit() / 2)
            plan.waitForBetterAnswer(
                flight, ticket: ticket, lane: lane, result: result, until: now.wall.advanced(by: delay))
        case .request, .notification:
            guard isTooMany else { return false }
            let count = lanes[flight.lane].uniform.count
            plan.trips.append((flight.lane, Self.sameAnswer(result, count: count)))
            if isFailedProbe {
                // The next probe tries another entry.
                plan.wait(
                    flight, ticket: ticket, lane: lane, until: now.wall.advanced(by: greatestWait),
                    reason: result.reason ?? .neverProcessed)
            } else {
                plan.returnUnprocessed(flight, ticket: ticket, lane: lane, reason: result.reason, wall: now.wall)
            }
        }
        return true
    }

    /// Deals with an answer that a token is gone, where that is said of too many of its topic with none confirmed in between:
    /// the topic is set aside, and the token is not blacklisted.
    ///
    /// - Returns: false for any other answer, which is not dealt with.
    func isGoneTooOften(
        _ result: SendResult, for flight: SentWindow.Flight, ticket: Ticket, plan: inout SettlementPlan, at now: Moment
    ) -> Bool {
        guard result.verdict == .rejected(.token), !flight.isBroadcast,
            let count = breakers.gone(flight.topic, result.reason)
        else { return false }
        probeAnswered(flight, result.verdict, into: &plan, at: now)
        var result = result
        result.detail =
            "\(count) times in a row, with nothing of the topic taken in between; the last tokens were not blacklisted"
        plan.refusedTopics.append((ticket, flight, result))
        return true
    }

    private static func wrongServer(_ result: SendResult) -> String {
        "the answers are not the push service's (\(wrongAnswer(result))): a wrong server, or something in between. "
            + "Nothing was settled; check endpoint, proxy and name resolution: the lane tries again by itself"
    }

    /// `status 502, server nginx`
    static func wrongAnswer(_ result: SendResult) -> String {
        (result.status.map { "status \($0)" } ?? "no status") + (result.detail.map { ", \($0)" } ?? "")
    }

    private static func sameAnswer(_ result: SendResult, count: Int) -> String {
        "\(SettlementPlan.describe(result)) \(count) times in a row and confirmed nothing in between. What is left was not "
            + "rejected; mend what is sent or where it is sent to; the lane tries again by itself"
    }
}

extension SettlementPlan {
    /// Something else than the service answered for this one alone: it waits, its attempts untouched.
    mutating func waitForBetterAnswer(
        _ flight: SentWindow.Flight, ticket: Ticket, lane: LaneID, result: SendResult, until due: WallTime
    ) {
        let key = EntryKey(lane: lane, uid: flight.uid)
        let possiblySent = result.isForeignSuccess || flight.possiblySentBefore
        if flight.hasOneAttempt, possiblySent { return giveUpAsUnknown(key, ticket: ticket) }
        now.batch.others.append(
            Settlement(
                key, .deferUntil(due, attempts: flight.attempts, reason: .foreignAnswer, possiblySent: possiblySent)))
        now.tickets.append(ticket)
        counts.deferred += 1
    }
}
