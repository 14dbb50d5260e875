/// Answers of a connection on which each notification has its own.
extension RouteJudge {
    /// Decides about one event of a connection. Its end comes with ``end(_:of:into:at:)``.
    func take(
        _ event: ConnectorEvent, of connection: Int, _ flights: Flights, into plan: inout SettlementPlan, at now: Moment
    ) {
        switch event {
        case .confirmed(let tickets):
            confirm(tickets, of: connection, flights, into: &plan, at: now)
        case .results(let results):
            for (ticket, result) in results {
                take(result, for: ticket, of: connection, flights, into: &plan, at: now)
            }
        case .sent, .payloadError, .barrierAnswered, .listened:
            takeCumulative(event, of: connection, flights, into: &plan, at: now)
        case .told(let result):
            plan.add(word: weigh(word: result, into: &plan, now: now.monotonic))
        case .capacityChanged, .draining, .ended: break
        }
    }

    /// The connection has ended: nothing that is in flight on it has an answer. Its probes are lost when the turn's refusals are
    /// settled, which may be theirs: see ``loseProbes(of:at:)``.
    func end(_ end: ConnectionEnd, of flights: Flights, into plan: inout SettlementPlan, at now: Moment) {
        endWindow(of: flights, end, into: &plan, wall: now.wall)
        endCumulativeWindow(of: flights, end, into: &plan, wall: now.wall)
    }

    private func confirm(
        _ tickets: [Ticket], of connection: Int, _ flights: Flights, into plan: inout SettlementPlan, at now: Moment
    ) {
        flights.hasWorked = true
        flights.note(.confirmed)
        flights.confirmations += tickets.count
        flights.answered += tickets.count
        answerCount += tickets.count
        credentialsWork(&plan, now: now.monotonic)
        let hasRefused = !refusedEntries.isEmpty
        let awaitsProbe = lanes.hasProbeOut || topicHold.hasProbeOut
        let (isJudging, hasChances) = (breakers.isJudging, breakers.hasChances)
        if !topicHold.isEmpty { topicHold.othersTaken(now: now.monotonic) }
        let hasRefusedTopics = !topicRefusals.isEmpty || throttle.isThrottling
        plan.answers.granted += tickets.count
        var (topic, count, evidence) = (TopicBreakers.none, 0, 0)
        for ticket in tickets {
            guard let flight = flights.window.answer(ticket) else { continue }
            let lane = flight.lane
            if flight.topic != topic {
                breakers.confirmed(count, of: topic, by: connection, evidence: evidence)
                credentialTopics.confirmed(flight.topic)
                foreignTopics.answered(flight.topic)
                answered(flight, at: now)
                (topic, count, evidence) = (flight.topic, 0, 0)
            }
            lanes[lane].uniform.confirmed()
            // What is said of a channel says nothing of tokens.
            if !flight.isBroadcast { count += 1 }
            if isJudging, !flight.isBroadcast, breakers.isEvidence(flight) { evidence += 1 }
            if hasChances { breakers.taken(flight, now: now.monotonic) }
            if hasRefused { wasTaken(flight, &plan) }
            if hasRefusedTopics { topicTaken(flight) }
            if awaitsProbe {
                probeAnswered(flight, .confirmed, into: &plan, at: now)
                topicAnswered(flight, .confirmed, into: &plan, at: now)
            }
            plan.acknowledge(lanes.key(lane, flight.uid), flight, ticket: ticket)
        }
        breakers.confirmed(count, of: topic, by: connection, evidence: evidence)
    }

    private func wasTaken(_ flight: SentWindow.Flight, _ plan: inout SettlementPlan) {
        let key = lanes.key(flight.lane, flight.uid)
        if refusedEntries.taken(key, recipient: flight.recipient), throttle.isThrottling { plan.answers.known += 1 }
    }

    private func endWindow(
        of flights: Flights, _ end: ConnectionEnd, into plan: inout SettlementPlan, wall: WallTime
    ) {
        let possiblySent = end.possiblySent.map(Set.init)
        for ticket in flights.window.unansweredTickets() {
            guard let flight = flights.window.giveUp(ticket) else { continue }
            flights.longestLeft = max(flights.longestLeft, flights.window.timeOut(flight))
            let isPossiblySent = possiblySent?.contains(ticket) ?? true
            if isPossiblySent { leftByUnproven(flight, on: flights) }
            // What was not sent has ended nothing, and what has one attempt does not go again.
            if isPossiblySent, !flight.hasOneAttempt { flights.leaveBehind(lanes.key(flight.lane, flight.uid)) }
            plan.addUnanswered(
                flight, ticket: ticket, lane: lanes[flight.lane].id, possiblySent: isPossiblySent, wall: wall)
        }
    }

    private func take(
        _ result: SendResult, for ticket: Ticket, of connection: Int, _ flights: Flights,
        into plan: inout SettlementPlan,
        at now: Moment
    ) {
        guard let flight = flights.window.answer(ticket) else { return }
        let result = aboutItsTopic(result, flight, now: now.monotonic)
        flights.note(result.verdict, of: flight.topic, now: now.monotonic)
        if result.verdict == .neverProcessed(.newConnection) { flights.leaveBehind(lanes.key(flight.lane, flight.uid)) }
        if result.isAnswer { flights.answered += 1 }
        if case .neverProcessed(let remedy) = result.verdict {
            let word = result.status != nil || result.reason != nil ? result : nil
            if let word { flights.unprocessed = word }
            neverProcessed(flight, remedy, word, on: flights)
        } else if result.isAnswer || result.status != nil {
            answerCount += 1
            answered(flight, at: now)
        } else if result.verdict == .unknown {
            leftUnanswered(flight, on: flights, into: &plan, at: now)
        }
        // An answer that asks for another connection is no sign that connecting again at once would help.
        if case .neverProcessed = result.verdict {} else if result.status != nil { flights.hasWorked = true }
        if let uniqueID = result.uniqueID {
            plan.news.append(.identified(flight.uid, uniqueID))
        }
        if result.verdict == .confirmed {
            lanes[flight.lane].uniform.confirmed()
            if !flight.isBroadcast {
                breakers.confirmed(
                    1, of: flight.topic, by: connection, evidence: breakers.isEvidence(flight) ? 1 : 0)
            }
            credentialsWork(&plan, now: now.monotonic)
            credentialTopics.confirmed(flight.topic)
            wasTaken(flight, &plan)
        }
        switch result.verdict {
        case .confirmed: breakers.taken(flight, now: now.monotonic)
        case .rejected(.notification), .rejected(.token): breakers.ended(flight)
        default: break
        }
        switch result.verdict {
        case .confirmed, .rejected, .laneStopped:
            topicTaken(flight)
            foreignTopics.answered(flight.topic)
        // Only the service gives reasons for that.
        case .deferred where result.reason != nil && result.reason != .foreignAnswer:
            foreignTopics.answered(flight.topic)
        case .deferred, .neverProcessed, .unknown, .foreign: break
        }
        if isGoneTooOften(result, for: flight, ticket: ticket, plan: &plan, at: now) { return }
        if isForeignToTopic(result, flight, ticket: ticket, into: &plan, at: now) { return }
        topicAnswered(flight, result.verdict, into: &plan, at: now)
        if isUniform(result, for: flight, ticket: ticket, plan: &plan, at: now) { return }
        if plan.holdsBack(result, for: flight, ticket: ticket) {
            probeAnswered(flight, result.verdict, into: &plan, at: now)
            return
        }
        decide(about: flight, ticket: ticket, by: result, into: &plan, at: now)
    }

    /// Decides about one answer. It may be a probe's, and it may refuse credentials that are good.
    func decide(
        about flight: SentWindow.Flight, ticket: Ticket, by result: SendResult, into plan: inout SettlementPlan,
        at now: Moment
    ) {
        let lane = lanes[flight.lane].id
        topicAnswered(flight, result.verdict, into: &plan, at: now)
        let wasRefused = lanes[flight.lane].machine.remedy == .credentials
        let isDoubted =
            result.verdict == .laneStopped(.credentials)
            && !convictsCredentials(result, of: flight.uid, topic: flight.topic, into: &plan, now: now.monotonic)
        if probeAnswered(flight, result.verdict, into: &plan, at: now) == .failed, wasRefused {
            // Behind all others of the lane, which may fare better: this one may be refused for its own sake.
            return plan.wait(
                flight, ticket: ticket, lane: lane, until: now.wall, reason: result.reason ?? .neverProcessed)
        }
        if isDoubted, !wasRefused {
            plan.wait(
                flight, ticket: ticket, lane: lane, until: now.wall.advanced(by: doubtfulPause),
                reason: result.reason ?? .neverProcessed)
            plan.counts.deferred += 1
            return
        }
        plan.add(
            result, for: flight, ticket: ticket, lane: lane, retry: configuration.retry, wall: now.wall,
            random: { jitter.unit() })
    }
}

extension SendResult {
    /// Whether the service has decided about the notification.
    fileprivate var isAnswer: Bool {
        switch verdict {
        case .neverProcessed, .unknown: false
        case .confirmed, .rejected, .deferred, .laneStopped, .foreign: true
        }
    }
}
