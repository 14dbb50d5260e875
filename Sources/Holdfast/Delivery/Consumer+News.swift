/// A turn takes in what the inbox has brought.
extension Consumer {
    func lookAtClocks(at now: Moment) {
        let before = judge.clock.distrustedUntil
        judge.clock = clockTrust.look(wall: now.wall, monotonic: now.monotonic)
        judge.clockHold.look(distrustedUntil: judge.clock.distrustedUntil)
        if judge.clock.distrustedUntil != before {
            promotions.lookForStranded(from: now.monotonic)
            expiryLook.opinionChanged()
        }
        if let remark = clockTrust.takeNews() { context.tell(.clock(remark)) }
        connections.look(now: now.monotonic)
        judge.breakers.look(turn: connections.turn)
        judge.silence.look(turn: connections.turn)
        context.teller.tell(judge.lookAtThrottle(inFlight: connections.inFlight, at: now))
    }

    func take(_ received: ConsumerInbox, at now: Moment) {
        takeCommits(received.commits)
        performer.take(received.settled, at: now) { work, result in
            withdrawals.finish(work, result)
            if case .success = result { promotions.settled(work, at: now) }
        }
        performer.recallDenied(wall: now.wall)
        endPayloadErrorHold()
        takeConnected(received.connected, at: now)
        takeEvents(earlyEvents + received.events, at: now)
        promotions.take(received.promoted, at: now)
        quarantines.take(received.quarantined, now: now.monotonic)
        endPayloadErrorHold()
        takeOperators(received, at: now)
        marks.take(received.marksLowered, now: now.monotonic)
        if let failure = received.failure { shutdown.lost(failure) }
        if received.credentialsChanged { takeNewCredentials(at: now) }
        if let reports = received.takesCharge {
            housekeeping.isInCharge = true
            self.reports.takeCharge(reports)
        }
        if let terms = received.terms { take(terms, at: now) }
        if let retirement = received.retirementAsked { shutdown.retire(retirement, now: now.monotonic) }
        if received.shutdownAsked { shutdown.begin(now: now.monotonic) }
    }

    private func takeCommits(_ commits: [LaneID: CommitReport.Lane]) {
        guard !commits.isEmpty else { return }
        for index in lanes.indices {
            guard let commit = commits[lanes[index].id] else { continue }
            if commit.mark != lanes[index].machine.mark { context.tell(.markMoved(lanes[index].key, to: commit.mark)) }
            lanes[index].machine.committed(lastUID: commit.lastUID, mark: commit.mark)
            if commit.hasSchedules { promotions.scheduled(index) }
        }
    }

    // MARK: Connections

    private func takeConnected(
        _ outcomes: [(connection: Int, result: Result<any Connection, ConnectError>)], at now: Moment
    ) {
        for (number, result) in outcomes {
            switch result {
            case .success(let connection) where context.ending.hasBegun || context.ending.isOver:
                connections.madeInVain(number, connection)
            case .success(let connection):
                connections.made(number, connection, now: now.monotonic)
                states.resume(stoppedFor: [.connection])
                context.tell(.connected(number, endpoint: connector.endpoint))
            case .failure(let error):
                connections.failed(number, error, now: now.monotonic)
                guard error.kind == .configuration, connections.pool.active.isEmpty else { continue }
                for index in lanes.indices { states.stop(index, error.message, remedy: .connection) }
            }
        }
    }

    /// Events of connections: each run of one connection's is decided about as one plan, and performed.
    func takeEvents(_ events: [(connection: Int, event: ConnectorEvent)], at now: Moment) {
        // The sink works before connect() has returned.
        earlyEvents = events.filter { $0.connection >= connections.next }
        let events = earlyEvents.isEmpty ? events : events.filter { $0.connection < connections.next }
        var position = events.startIndex
        while position < events.endIndex {
            let number = events[position].connection
            var plan = judge.newPlan(at: now)
            var end: ConnectionEnd?
            while position < events.endIndex, events[position].connection == number, end == nil {
                end = take(events[position].event, of: number, into: &plan, at: now)
                position += 1
            }
            judge.settleRefusals(in: &plan, inFlight: connections.inFlight, at: now)
            if end != nil { judge.loseProbes(of: number, at: now) }
            learn(from: number, end: end, into: &plan, at: now)
            performer.settle(plan, connection: number, at: now)
            connections.pauseIfRefusing(number, now: now.monotonic)
            if let end {
                judge.breakers.ended(voice: number)
                connections.ended(number, end, now: now.monotonic)
            }
        }
        performer.recallDenied(wall: now.wall)
        endPayloadErrorHold()
    }

    /// - Returns: how the connection ended, if this event is its end.
    private func take(
        _ event: ConnectorEvent, of number: Int, into plan: inout SettlementPlan, at now: Moment
    ) -> ConnectionEnd? {
        guard let link = connections[number], link.connection != nil else { return nil }
        context.spans?.take(event, of: number)
        switch event {
        case .confirmed, .results, .sent, .payloadError, .barrierAnswered, .listened, .told:
            judge.take(event, of: number, link.flights, into: &plan, at: now)
        case .capacityChanged(let capacity): link.capacityChanged(capacity)
        case .draining:
            link.isDraining = true
            link.leavesByItself = connections.pool.contains(number)
            connections.leave(number, now: now.monotonic)
        case .ended(let end):
            judge.end(end, of: link.flights, into: &plan, at: now)
            return end
        }
        return nil
    }

    private func learn(from number: Int, end: ConnectionEnd?, into plan: inout SettlementPlan, at now: Moment) {
        guard let link = connections[number] else { return }
        judge.learn(
            from: link.flights, takesNoMore: end != nil || link.isDraining, leftByItself: link.leavesByItself, end: end,
            into: &plan, at: now, isOut: { handOuts.isOut($0) })
    }

    /// Ends the hold when everything that follows from a payload error is on disk.
    private func endPayloadErrorHold() {
        if isSettled, !performer.hasLateErrors { context.holds.settlesPayloadError = false }
    }

    // MARK: Operators

    private func takeOperators(_ received: ConsumerInbox, at now: Moment) {
        for order in received.orders { take(order, at: now) }
        for (index, error) in received.statesNotNoted {
            context.tell(.failed(.notingState(lanes[index].key), error))
        }
        if !received.hurries.isEmpty { hurry(at: now) }
        for completion in received.hurries { completion(.success(())) }
        for inquiry in received.inquiries { inquiry.completion(withdrawals.insights(inquiry.uids)) }
        withdrawals.take(received.withdrawals, at: now)
        for _ in 0..<received.restoresBegun {
            for index in lanes.indices { lanes[index].machine.beginRestoring() }
        }
        if received.hasRestored {
            for index in lanes.indices { lanes[index].machine.endRestoring(received.restoresEnded) }
            promotions.restored(at: now)
        }
        if received.barrierAsked { barriers.wantAll() }
        if let trimmed = received.trimmed { takeTrimmed(trimmed, now: now.monotonic) }
    }

    private func take(_ order: LaneOrder, at now: Moment) {
        guard let index = lanes.index(of: order.lane) else { return }
        switch order.kind {
        case .resume:
            judge.topicHold.hurry(at: now)
            judge.throttle.hurry()
            context.holds.unpark()
            states.resume(index)
        case .pause(let reason): states.pause(index, reason, since: now.wall)
        }
        context.journal.setState(of: order.lane, to: lanes[index].machine.state, completion: order.completion)
    }

    /// An operator has mended something: whatever waits for its turn is tried now.
    private func hurry(at now: Moment) {
        connections.hurry(now: now.monotonic)
        handOuts.hurry(at: now)
        judge.topicHold.hurry(at: now)
        judge.throttle.hurry()
        context.holds.unpark()
        for index in lanes.indices {
            lanes[index].probe.hurry(at: now)
            lanes[index].deferral.hurry(through: promotions.latestDue, now: now.monotonic)
        }
    }

    private func takeTrimmed(_ trimmed: Result<Trimmed, JournalError>, now: Duration) {
        switch trimmed {
        case .success(let trimmed): context.tell(.trimmed(rejections: trimmed.rejections))
        case .failure(let error): context.tell(.failed(.trimming, error))
        }
        housekeeping.trimmed(now: now)
    }

    // MARK: Terms

    /// The connector sends with other credentials.
    private func takeNewCredentials(at now: Moment) {
        context.holds.unpark()
        connections.hurry(now: now.monotonic)
        judge.credentialsChanged(at: now)
        states.resume(stoppedFor: [.connection, .credentials])
    }

    /// Works on by other terms, with the connections that it has.
    private func take(_ terms: ConsumerInbox.Terms, at now: Moment) {
        let old = context.route
        context.change(to: terms.route, terms.configuration)
        connections.change(from: old, now: now.monotonic)
        if terms.route.rate != old.rate { places.rate.change(to: terms.route.rate) }
        judge.change(to: terms.configuration, at: now)
        housekeeping.change(to: terms.configuration)
        reports.change(isInCharge: housekeeping.isInCharge)
    }
}
