/// Answers of a connection on which only errors are answered: what an error, a barrier or silence proves.
extension RouteJudge {
    func takeCumulative(
        _ event: ConnectorEvent, of connection: Int, _ flights: Flights, into plan: inout SettlementPlan, at now: Moment
    ) {
        guard flights.cumulative != nil else { return }
        switch event {
        case .sent(let ticket):
            // What was never handed out can't have left, and must not be called quiet when it is.
            flights.cumulative!.sent(through: ticket.rawValue)
        case .listened(let stamp):
            guard let through = flights.cumulative!.clock.listened(stamp), flights.cumulative!.silenceConfirms else {
                return
            }
            confirm(through: through, of: flights, basis: .quiet, into: &plan, at: now)
        case .barrierAnswered(let ticket):
            confirm(through: ticket.rawValue, of: flights, basis: .barrier, into: &plan, at: now)
            plan.leaves = true
        case .payloadError(let error):
            take(error, of: flights, connection, into: &plan, at: now)
            (plan.holdsRoute, plan.leaves) = (true, true)
        case .confirmed, .results, .capacityChanged, .draining, .told, .ended: break
        }
    }

    private func confirm(
        through position: UInt64, of flights: Flights, basis: ConfirmationBasis, into plan: inout SettlementPlan,
        at now: Moment
    ) {
        let first = flights.cumulative!.window.firstPosition
        let runs = flights.cumulative!.window.confirm(through: position)
        // What a barrier has proven nobody can deny.
        if basis == .barrier {
            flights.cumulative!.quiet.forgetAll()
            proveQuiet(of: flights, below: .max)
        }
        guard !runs.isEmpty else { return }
        flights.hasWorked = true
        flights.answered += runs.reduce(0) { $0 + $1.count }
        if basis == .quiet { noteQuiet(runs, from: first, of: flights) } else { count(runs) }
        credentialTrial.confirmed(now: now.monotonic)
        probesConfirmed(runs, into: &plan, at: now)
        let isKept = basis == .quiet && configuration.keepsAside
        if isKept {
            flights.cumulative!.quiet.note(
                runs, from: first, now: now.monotonic, period: configuration.lateErrorPeriod,
                limit: configuration.lateErrorLimit)
        }
        acknowledge(runs, of: flights, basis: basis, isKeptAside: isKept, into: &plan)
    }

    /// Counts what an error or a barrier has confirmed for its lanes and topics.
    private func count(_ runs: [CumulativeWindow.Run]) {
        for run in runs {
            lanes[run.lane].uniform.confirmed()
            breakers.confirmed(run.count, of: run.topic)
        }
    }

    /// Silence may be denied yet, so what it confirms says nothing of tokens before an error or a barrier behind it does.
    private func noteQuiet(_ runs: [CumulativeWindow.Run], from first: UInt64, of flights: Flights) {
        var position = first
        for run in runs {
            lanes[run.lane].uniform.confirmed()
            if flights.cumulative!.quietTopics[run.topic] == nil {
                flights.cumulative!.quietTopics[run.topic] = position
            }
            position += UInt64(run.count)
        }
    }

    /// Everything before a position of the connection was taken. That proves the topics which silence alone had confirmed.
    private func proveQuiet(of flights: Flights, below position: UInt64) {
        for (topic, first) in flights.cumulative!.quietTopics where first < position {
            breakers.confirmed(1, of: topic)
        }
        flights.cumulative!.quietTopics = [:]
    }

    private func acknowledge(
        _ runs: [CumulativeWindow.Run], of flights: Flights, basis: ConfirmationBasis, isKeptAside: Bool = false,
        into plan: inout SettlementPlan
    ) {
        let withdrawn = flights.cumulative!.withdrawn
        plan.acknowledge(
            runs, lanes: lanes.ids, basis: basis, isKeptAside: isKeptAside, withdrawn: withdrawn)
        guard !withdrawn.isEmpty else { return }
        flights.cumulative!.withdrawn = withdrawn.filter { key in
            !runs.contains { lanes[$0.lane].id == key.lane && $0.uids.contains(key.uid.rawValue) }
        }
    }

    /// Settles a payload error: the service took what was sent earlier on this connection, refused the named entry, and
    /// discarded what was sent later.
    private func take(
        _ error: PayloadError, of flights: Flights, _ connection: Int, into plan: inout SettlementPlan, at now: Moment
    ) {
        let conclusion = flights.cumulative!.window.conclude(error)
        if case .impossible = conclusion {} else { proveQuiet(of: flights, below: error.position.rawValue) }
        switch conclusion {
        case .within(let taken, let named, let later):
            flights.cumulative!.quiet.forgetAll()
            if !taken.isEmpty || named != nil && error.isFinal { flights.hasWorked = true }
            flights.answered += taken.reduce(named == nil ? 0 : 1) { $0 + $1.count }
            count(taken)
            if !taken.isEmpty { credentialTrial.confirmed(now: now.monotonic) }
            probesConfirmed(taken, into: &plan, at: now)
            acknowledge(taken, of: flights, basis: .answer, into: &plan)
            if let named, case .refused(let result) = error.kind {
                let ticket = flights.window.settleUnsent(named)
                if !isGoneTooOften(result, for: named, ticket: ticket, plan: &plan, at: now),
                    !isUniform(result, for: named, ticket: ticket, plan: &plan, at: now)
                {
                    decide(about: named, ticket: ticket, by: result, into: &plan, at: now)
                }
            }
            returnDiscarded(later, of: flights, into: &plan, wall: now.wall)
        case .late(let all, let confirmedBefore):
            takeLate(error, confirmedBefore: confirmedBefore, of: flights, connection: connection, into: &plan)
            returnDiscarded(all, of: flights, into: &plan, wall: now.wall)
        case .impossible(let all):
            plan.news.append(.impossibleIdentifier)
            giveBackUnknown(all, of: flights, into: &plan, wall: now.wall)
        }
    }

    /// Provably not processed: back into their lanes in their order, where each is checked again before it goes.
    private func returnDiscarded(
        _ runs: [CumulativeWindow.Run], of flights: Flights, into plan: inout SettlementPlan, wall: WallTime
    ) {
        for run in runs {
            guard run.hasOneAttempt else {
                requeue(run, possiblySent: run.possiblySentBefore, into: &plan)
                continue
            }
            for flight in run.flights {
                plan.returnUnprocessed(
                    flight, ticket: flights.window.settleUnsent(flight), lane: lanes[run.lane].id, reason: nil,
                    wall: wall)
            }
        }
    }

    private func giveBackUnknown(
        _ runs: [CumulativeWindow.Run], of flights: Flights, into plan: inout SettlementPlan, wall: WallTime
    ) {
        for run in runs {
            guard run.hasOneAttempt else {
                flights.leaveBehind(lanes.key(run.lane, run.first), through: UID(run.uids.upperBound))
                requeue(run, possiblySent: true, into: &plan)
                continue
            }
            for flight in run.flights {
                plan.giveUpAsUnknown(
                    lanes.key(run.lane, flight.uid), ticket: flights.window.settleUnsent(flight))
            }
        }
    }

    private func requeue(_ run: CumulativeWindow.Run, possiblySent: Bool, into plan: inout SettlementPlan) {
        plan.requeuedRuns.append((run.lane, RequeuedRuns.Run(run.uids, possiblySent: possiblySent)))
        plan.counts.requeued += run.count
    }

    func endCumulativeWindow(of flights: Flights, _ end: ConnectionEnd, into plan: inout SettlementPlan, wall: WallTime)
    {
        guard flights.cumulative != nil else { return }
        let (possiblySent, neverSent) = flights.cumulative!.window.end(possiblySentThrough: end.possiblySentThrough)
        giveBackUnknown(possiblySent, of: flights, into: &plan, wall: wall)
        returnDiscarded(neverSent, of: flights, into: &plan, wall: wall)
    }

    /// - Parameter confirmedBefore: how many the error denies that counted as confirmed.
    private func takeLate(
        _ error: PayloadError, confirmedBefore: Int, of flights: Flights, connection: Int,
        into plan: inout SettlementPlan
    ) {
        let denied = flights.cumulative!.quiet.deny(error)
        guard confirmedBefore > 0 else { return }
        var result: SendResult?
        if case .refused(let refusal) = error.kind { result = refusal }
        plan.lateErrors.append(
            LateError(
                connection: connection, denied: denied, result: result,
                forgotten: max(confirmedBefore - denied.count, 0)))
    }
}

extension PayloadError {
    /// Something was settled by it. Where each first notification is put off, connecting again at once would storm.
    fileprivate var isFinal: Bool {
        guard case .refused(let result) = kind, case .rejected = result.verdict else { return false }
        return true
    }
}
