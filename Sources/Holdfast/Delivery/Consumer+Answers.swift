internal import Logging

/// Answers in, plans to the Producer.
extension Consumer {
    func takeEvents(_ events: [(connection: Int, event: ConnectorEvent)], now: Duration, wall: WallTime) {
        // The sink works before connect() has returned.
        earlyEvents = events.filter { $0.connection >= nextConnection }
        let events = earlyEvents.isEmpty ? events : events.filter { $0.connection < nextConnection }
        var position = events.startIndex
        while position < events.endIndex {
            let connection = events[position].connection
            var plan = SettlementPlan()
            plan.earliestNow = clockReading.earliest
            var isOver: ConnectionEnd?
            while position < events.endIndex, events[position].connection == connection, isOver == nil {
                isOver = take(events[position].event, of: connection, into: &plan, now: now, wall: wall)
                position += 1
            }
            settleRefusals(in: &plan, now: now, wall: wall)
            carryOut(plan, connection: connection, now: now, wall: wall)
            learn(from: connection, end: isOver)
            pauseIfRefusing(connection, now: now)
            if let isOver { connectionEnded(connection, isOver, now: now) }
        }
        recallDenied(wall: wall)
        endPayloadErrorHold()
    }

    private func pauseIfRefusing(_ connection: Int, now: Duration) {
        guard let link = links[connection], link.isRefusing() else { return }
        var schedule = configuration.reconnectSchedule
        schedule.skip(link.refusals - 2)
        link.pausedUntil = now + schedule.failed(random: randomUnit())
    }

    /// - Returns: how the connection ended, if this event is its end.
    private func take(
        _ event: ConnectorEvent, of connection: Int, into plan: inout SettlementPlan, now: Duration, wall: WallTime
    ) -> ConnectionEnd? {
        guard let link = links[connection], link.connection != nil else { return nil }
        switch event {
        case .confirmed(let tickets):
            confirm(tickets, of: connection, link, into: &plan, now: now, wall: wall)
        case .results(let results):
            for (ticket, result) in results {
                take(result, for: ticket, of: connection, link, into: &plan, now: now, wall: wall)
            }
        case .sent, .payloadError, .barrierAnswered, .listened:
            takeCumulative(event, of: connection, link, into: &plan, now: now, wall: wall)
        case .capacityChanged(let capacity):
            link.capacity = max(capacity, 1)
            link.streams = max(min(link.connection?.streams ?? capacity, link.capacity), 1)
        case .told(let result):
            plan.add(word: weigh(word: result, now: now))
        case .draining:
            link.isDraining = true
            link.leavesByItself = pool.contains(connection)
            leave(connection, now: now)
        case .ended(let end):
            endWindow(of: link, end, into: &plan, wall: wall)
            endCumulativeWindow(of: link, end, into: &plan, wall: wall)
            loseProbes(of: connection, now: now, wall: wall)
            return end
        }
        return nil
    }

    private func confirm(
        _ tickets: [Ticket], of connection: Int, _ link: Link, into plan: inout SettlementPlan, now: Duration,
        wall: WallTime
    ) {
        link.hasWorked = true
        link.note(.confirmed)
        link.confirmations += tickets.count
        link.answered += tickets.count
        credentialsWork(&plan, now: now)
        let hasRefused = !refusedEntries.isEmpty
        let awaitsProbe = hasProbeOut || topicHold.hasProbeOut
        let (isJudging, hasChances) = (breakers.isJudging, breakers.hasChances)
        plan.answers.granted += tickets.count
        var (topic, count, evidence) = (TopicBreakers.none, 0, 0)
        for ticket in tickets {
            guard let flight = link.window.answer(ticket) else { continue }
            let lane = flight.lane
            if flight.topic != topic {
                breakers.confirmed(count, of: topic, by: connection, evidence: evidence)
                credentialTopics.confirmed(flight.topic)
                (topic, count, evidence) = (flight.topic, 0, 0)
            }
            uniforms[lane].confirmed()
            // What is said of a channel says nothing of tokens.
            if !flight.isBroadcast { count += 1 }
            if isJudging, !flight.isBroadcast, breakers.isEvidence(flight) { evidence += 1 }
            if hasChances { breakers.taken(flight, now: now) }
            if hasRefused { wasTaken(flight, &plan) }
            if awaitsProbe {
                probeAnswered(flight, .confirmed, now: now, wall: wall)
                topicAnswered(flight, .confirmed, now: now, wall: wall)
            }
            plan.acknowledge(EntryKey(lane: lanes[lane].id, uid: flight.uid), ticket: ticket)
        }
        breakers.confirmed(count, of: topic, by: connection, evidence: evidence)
    }

    private func wasTaken(_ flight: SentWindow.Flight, _ plan: inout SettlementPlan) {
        let key = EntryKey(lane: lanes[flight.lane].id, uid: flight.uid)
        if refusedEntries.taken(key, recipient: flight.recipient), throttle.isThrottling { plan.answers.known += 1 }
    }

    private func endWindow(
        of link: Link, _ end: ConnectionEnd, into plan: inout SettlementPlan, wall: WallTime
    ) {
        let possiblySent = end.possiblySent.map(Set.init)
        for ticket in link.window.unansweredTickets() {
            guard let flight = link.window.giveUp(ticket) else { continue }
            let isPossiblySent = possiblySent?.contains(ticket) ?? true
            // What was not sent has ended nothing, and what has one attempt does not go again.
            if isPossiblySent, !flight.hasOneAttempt { leaveBehind(flight, on: link) }
            plan.addUnanswered(
                flight, ticket: ticket, lane: lanes[flight.lane].id, possiblySent: isPossiblySent, wall: wall)
        }
    }

    private func take(
        _ result: SendResult, for ticket: Ticket, of connection: Int, _ link: Link, into plan: inout SettlementPlan,
        now: Duration, wall: WallTime
    ) {
        guard let flight = link.window.answer(ticket) else { return }
        let result = aboutItsTopic(result, flight)
        link.note(result.verdict)
        if result.verdict == .neverProcessed(.newConnection) { leaveBehind(flight, on: link) }
        if result.isAnswer { link.answered += 1 }
        // An answer that asks for another connection is no sign that connecting again at once would help.
        if case .neverProcessed = result.verdict {} else if result.status != nil { link.hasWorked = true }
        if let uniqueID = result.uniqueID {
            log(
                .identified, "entry \(flight.uid) is \(uniqueID) to the service",
                ["uid": .stringConvertible(flight.uid), "apns-unique-id": .string(uniqueID)])
            events.emit(.identified(route: name, flight.uid, uniqueID: uniqueID))
        }
        if result.verdict == .confirmed {
            uniforms[flight.lane].confirmed()
            if !flight.isBroadcast {
                breakers.confirmed(
                    1, of: flight.topic, by: connection, evidence: breakers.isEvidence(flight) ? 1 : 0)
            }
            credentialsWork(&plan, now: now)
            credentialTopics.confirmed(flight.topic)
            wasTaken(flight, &plan)
        }
        switch result.verdict {
        case .confirmed: breakers.taken(flight, now: now)
        case .rejected(.notification), .rejected(.token): breakers.ended(flight)
        default: break
        }
        if isGoneTooOften(result, for: flight, ticket: ticket, plan: &plan, now: now, wall: wall) { return }
        topicAnswered(flight, result.verdict, now: now, wall: wall)
        if isUniform(result, for: flight, ticket: ticket, plan: &plan, now: now, wall: wall) { return }
        if plan.holdsBack(result, for: flight, ticket: ticket) {
            probeAnswered(flight, result.verdict, now: now, wall: wall)
            return
        }
        decide(about: flight, ticket: ticket, by: result, into: &plan, now: now, wall: wall)
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
