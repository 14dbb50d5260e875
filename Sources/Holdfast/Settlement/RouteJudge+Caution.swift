/// Entries that end the connections that they go out on: see ``Caution``.
extension RouteJudge {
    /// Draws the conclusions from a turn's events of one connection.
    ///
    /// - Parameters:
    ///   - takesNoMore: whether the connection has said that it takes nothing more, or has ended.
    ///   - leftByItself: whether that was its own doing, and nothing that was asked for.
    ///   - end: how it ended, if it has.
    ///   - isOut: whether an entry is with a connection that has not answered.
    func learn(
        from flights: Flights, takesNoMore: Bool, leftByItself: Bool, end: ConnectionEnd?,
        into plan: inout SettlementPlan, at now: Moment, isOut: (EntryKey) -> Bool
    ) {
        if caution.wantsAnswers { caution.answered(flights.answered, isOut: isOut) }
        flights.answered = 0
        if end != nil, flights.handOuts == 0 { caution.endedUnused() }
        guard takesNoMore else { return }
        if !flights.isEndKnown { (flights.isEndKnown, flights.endedBy) = (true, topicJustRefused(flights, at: now)) }
        guard let left = flights.left else { return }
        flights.left = nil
        // One connection ends once.
        guard !flights.hasConcluded, leftByItself || end?.cause != nil else { return }
        flights.hasConcluded = true
        if let topic = flights.endedBy { return endedByRefusal(of: topic, cost: flights.longestLeft, at: now) }
        let finding = caution.ended(left, wasAlone: flights.handOuts == 1)
        if case .careful(let key, let ends) = finding {
            plan.news.append(.careful(key.uid, ends: ends, cause: end?.cause))
        }
    }

    /// The topic that the connection's last answer has just refused, if nothing of it is taken. Some services end the connection with
    /// such an answer: what it leaves behind has not ended it.
    private func topicJustRefused(_ flights: Flights, at now: Moment) -> UInt32? {
        guard let (topic, time) = flights.lastRefusal, now.monotonic - time < .seconds(1) else { return nil }
        let isRefused =
            topicRefusals.contains(topic) || breakers.name(of: topic).map { topicHold.isSetAside($0) } ?? false
        return isRefused ? topic : nil
    }

    private func endedByRefusal(of topic: UInt32, cost: Duration, at now: Moment) {
        caution.endedByRefusal()
        topicRefusals.endedConnection(topic, cost: cost)
        guard let name = breakers.name(of: topic) else { return }
        topicHold.postpone(name, atLeast: pauseOfRefused(topic), at: now)
    }

    /// An entry that ends connections waits.
    ///
    /// - Parameters:
    ///   - ends: so many of them.
    ///   - counts: whether that is an attempt. If not, it is not reported, since the service may be at fault.
    func putAside(
        _ flight: SentWindow.Flight, ticket: Ticket, ends: Int, counts: Bool, wall: WallTime,
        plan: inout SettlementPlan
    ) {
        let key = lanes.key(flight.lane, flight.uid)
        guard counts else {
            let pause = configuration.retry.delay(attempt: ends, random: jitter.unit())
            plan.wait(
                flight, ticket: ticket, lane: key.lane, until: wall.advanced(by: pause), reason: .endsConnections)
            return caution.putAside(key)
        }
        let due = plan.countAttempt(
            flight, ticket: ticket, lane: key.lane, reason: .endsConnections, atTheEnd: .endsConnections,
            possiblySent: flight.possiblySentBefore, retry: configuration.retry, wall: wall, random: { jitter.unit() })
        if due == nil { caution.forget(key) } else { caution.putAside(key) }
        plan.news.append(
            .endsConnections(
                lanes[flight.lane].key, flight.uid, ends: ends, nextTrial: due, wait: due.map { $0.since(wall) }))
    }

    /// Why an entry does not go out now that has ended connections.
    func suspicion(of flight: SentWindow.Flight) -> Obstacle? {
        let key = lanes.key(flight.lane, flight.uid)
        switch caution.treatment(of: key, othersWait: flight.hasOneAttempt && othersWait) {
        case .goes: return nil
        case .waits: return .mustWait(caution.pause(of: key, configuration.retry), .endsConnections)
        case .isPutAside(let ends, let counts): return .endsConnections(ends, counts: counts)
        }
    }

    // MARK: Who goes before whom

    /// Whether anything else than the accused could go out, or is about to come back.
    var othersWait: Bool {
        let accused = caution.passedOver
        return lanes.contains { lane in
            guard lane.handsOut else { return false }
            if lane.machine.isPromoting { return true }
            let isAhead =
                lane.hasOneAttempt
                ? lane.machine.wantsForwardPlaces || lane.machine.forwardPlaces > 0 : lane.machine.hasForwardWork
            return isAhead || lane.machine.againCount > goingAgain(accused, in: lane)
        }
    }

    /// Whether anything else could still be answered before the accused go. What is out counts: a trial would give up the
    /// connection that has it, and where that takes long, it would go again and be given up again for ever.
    func othersGo(inFlight: Int) -> Bool { othersWait || inFlight > 0 }

    /// The number of a lane's entries to send again that come before entries brought back from disk. Accused entries do not
    /// count: they would fill the window, and so keep on disk the entries that show which of them end connections.
    func againCount(in index: Int) -> Int {
        let lane = lanes[index]
        guard caution.hasSuspects, lane.machine.againCount > 0, !lane.hasOneAttempt else {
            return lane.machine.againCount
        }
        return lane.machine.againCount - goingAgain(caution.passedOver, in: lane)
    }

    private func goingAgain(_ keys: [EntryKey], in lane: RouteLane) -> Int {
        keys.count { $0.lane == lane.id && lane.machine.goesAgain($0.uid) != nil }
    }

    /// Entries of a lane that let others go first. None of a lane with one attempt: there they come up, and are deferred.
    func passedOver(in index: Int, inFlight: Int) -> Set<UID> {
        guard caution.hasSuspects, !lanes[index].hasOneAttempt else { return [] }
        let waiting =
            othersGo(inFlight: inFlight)
            ? caution.passedOver : caution.waitingForConnection + caution.outOfTurn { goesNext($0) }
        return Set(waiting.lazy.filter { [id = lanes[index].id] in $0.lane == id }.map(\.uid))
    }

    private func goesNext(_ key: EntryKey) -> Bool {
        lanes.contains {
            $0.id == key.lane && $0.handsOut && !$0.hasOneAttempt && $0.machine.goesAgain(key.uid) != nil
        }
    }

    /// Whether an accused entry waits, in its lane or on disk: in a lane with one attempt, what goes again comes back from
    /// there.
    func isWaiting(_ key: EntryKey) -> Bool {
        lanes.contains { $0.id == key.lane && ($0.hasOneAttempt || $0.machine.goesAgain(key.uid) != nil) }
    }
}
