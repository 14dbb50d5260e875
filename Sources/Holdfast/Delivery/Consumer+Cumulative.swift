internal import Logging

/// Connections on which only errors are answered: what an error, a barrier or silence proves.
extension Consumer {
    func takeCumulative(
        _ event: ConnectorEvent, of connection: Int, _ link: Link, into plan: inout SettlementPlan, now: Duration,
        wall: WallTime
    ) {
        guard link.cumulative != nil else { return }
        switch event {
        case .sent(let ticket):
            // What was never handed out can't have left, and must not be called quiet when it is.
            link.cumulative!.sent(through: ticket.rawValue)
        case .listened(let stamp):
            guard let through = link.cumulative!.clock.listened(stamp), link.cumulative!.silenceConfirms else { return }
            confirm(through: through, of: link, basis: .quiet, into: &plan, now: now)
        case .barrierAnswered(let ticket):
            confirm(through: ticket.rawValue, of: link, basis: .barrier, into: &plan, now: now)
            leave(connection, now: now)
        case .payloadError(let error):
            take(error, of: link, connection, into: &plan, now: now, wall: wall)
            // Nothing goes out on the route before this is settled: what is requeued goes first.
            settlesPayloadError = true
            leave(connection, now: now)
        case .confirmed, .results, .capacityChanged, .draining, .told, .ended: break
        }
    }

    private func confirm(
        through position: UInt64, of link: Link, basis: ConfirmationBasis, into plan: inout SettlementPlan,
        now: Duration
    ) {
        let first = link.cumulative!.window.firstPosition
        let runs = link.cumulative!.window.confirm(through: position)
        // What a barrier has proven nobody can deny.
        if basis == .barrier {
            link.cumulative!.quiet.forgetAll()
            proveQuiet(of: link, below: .max)
        }
        guard !runs.isEmpty else { return }
        link.hasWorked = true
        link.answered += runs.reduce(0) { $0 + $1.count }
        if basis == .quiet { noteQuiet(runs, from: first, of: link) } else { count(runs) }
        credentialTrial.confirmed(now: now)
        probesConfirmed(runs, now: now)
        let isKept = basis == .quiet && configuration.keepsAside
        if isKept {
            link.cumulative!.quiet.note(
                runs, from: first, now: now, period: configuration.lateErrorPeriod, limit: configuration.lateErrorLimit)
        }
        acknowledge(runs, of: link, basis: basis, isKeptAside: isKept, into: &plan)
    }

    /// Counts what an error or a barrier has confirmed for its lanes and topics.
    private func count(_ runs: [CumulativeWindow.Run]) {
        for run in runs {
            uniforms[run.lane].confirmed()
            breakers.confirmed(run.count, of: run.topic)
        }
    }

    /// Silence may be denied yet, so what it confirms says nothing of tokens before an error or a barrier behind it does.
    private func noteQuiet(_ runs: [CumulativeWindow.Run], from first: UInt64, of link: Link) {
        var position = first
        for run in runs {
            uniforms[run.lane].confirmed()
            if link.cumulative!.quietTopics[run.topic] == nil { link.cumulative!.quietTopics[run.topic] = position }
            position += UInt64(run.count)
        }
    }

    /// Everything before a position of the connection was taken. That proves the topics which silence alone had confirmed.
    private func proveQuiet(of link: Link, below position: UInt64) {
        for (topic, first) in link.cumulative!.quietTopics where first < position {
            breakers.confirmed(1, of: topic)
        }
        link.cumulative!.quietTopics = [:]
    }

    private func acknowledge(
        _ runs: [CumulativeWindow.Run], of link: Link, basis: ConfirmationBasis, isKeptAside: Bool = false,
        into plan: inout SettlementPlan
    ) {
        let withdrawn = link.cumulative!.withdrawn
        plan.acknowledge(
            runs, lanes: lanes.map(\.id), basis: basis, isKeptAside: isKeptAside, withdrawn: withdrawn)
        guard !withdrawn.isEmpty else { return }
        link.cumulative!.withdrawn = withdrawn.filter { key in
            !runs.contains { lanes[$0.lane].id == key.lane && $0.uids.contains(key.uid.rawValue) }
        }
    }

    /// What was sent earlier on this connection was taken, the named one was refused, what was sent later was discarded.
    private func take(
        _ error: PayloadError, of link: Link, _ connection: Int, into plan: inout SettlementPlan, now: Duration,
        wall: WallTime
    ) {
        let conclusion = link.cumulative!.window.conclude(error)
        if case .impossible = conclusion {} else { proveQuiet(of: link, below: error.position.rawValue) }
        switch conclusion {
        case .within(let taken, let named, let later):
            link.cumulative!.quiet.forgetAll()
            if !taken.isEmpty || named != nil && error.isFinal { link.hasWorked = true }
            link.answered += taken.reduce(named == nil ? 0 : 1) { $0 + $1.count }
            count(taken)
            if !taken.isEmpty { credentialTrial.confirmed(now: now) }
            probesConfirmed(taken, now: now)
            acknowledge(taken, of: link, basis: .answer, into: &plan)
            if let named, case .refused(let result) = error.kind {
                let ticket = link.window.settleUnsent(named)
                if !isGoneTooOften(result, for: named, ticket: ticket, plan: &plan, now: now, wall: wall),
                    !isUniform(result, for: named, ticket: ticket, plan: &plan, now: now, wall: wall)
                {
                    decide(about: named, ticket: ticket, by: result, into: &plan, now: now, wall: wall)
                }
            }
            returnDiscarded(later, of: link, into: &plan, wall: wall)
        case .late(let all, let confirmedBefore):
            takeLate(error, confirmedBefore: confirmedBefore, of: link, connection: connection)
            returnDiscarded(all, of: link, into: &plan, wall: wall)
        case .impossible(let all):
            log(
                .impossibleIdentifier,
                "the service names a notification that was never sent; nothing can be concluded")
            giveBackUnknown(all, of: link, into: &plan, wall: wall)
        }
    }

    /// Provably not processed: back into their lanes in their order, where each is checked again before it goes.
    private func returnDiscarded(
        _ runs: [CumulativeWindow.Run], of link: Link, into plan: inout SettlementPlan, wall: WallTime
    ) {
        for run in runs {
            guard run.hasOneAttempt else {
                requeue(run, possiblySent: run.possiblySentBefore, into: &plan)
                continue
            }
            for flight in run.flights {
                plan.returnUnprocessed(
                    flight, ticket: link.window.settleUnsent(flight), lane: lanes[run.lane].id, reason: nil, wall: wall)
            }
        }
    }

    private func giveBackUnknown(
        _ runs: [CumulativeWindow.Run], of link: Link, into plan: inout SettlementPlan, wall: WallTime
    ) {
        for run in runs {
            guard run.hasOneAttempt else {
                leaveBehind(run, on: link)
                requeue(run, possiblySent: true, into: &plan)
                continue
            }
            for flight in run.flights {
                plan.giveUpAsUnknown(
                    EntryKey(lane: lanes[run.lane].id, uid: flight.uid), ticket: link.window.settleUnsent(flight))
            }
        }
    }

    private func requeue(_ run: CumulativeWindow.Run, possiblySent: Bool, into plan: inout SettlementPlan) {
        lanes[run.lane].requeue([RequeuedRuns.Run(run.uids, possiblySent: possiblySent)])
        plan.counts.requeued += run.count
    }

    func endCumulativeWindow(of link: Link, _ end: ConnectionEnd, into plan: inout SettlementPlan, wall: WallTime) {
        guard link.cumulative != nil else { return }
        let (possiblySent, neverSent) = link.cumulative!.window.end(possiblySentThrough: end.possiblySentThrough)
        giveBackUnknown(possiblySent, of: link, into: &plan, wall: wall)
        returnDiscarded(neverSent, of: link, into: &plan, wall: wall)
    }

    // MARK: Silence and barriers

    func runCumulativeTimers(now: Duration, wall: WallTime) {
        for (number, link) in orderedLinks where link.connection != nil {
            guard let state = link.cumulative, let connection = link.cumulative?.connection else { continue }
            if state.quiet.count > 0 { link.cumulative!.quiet.forget(before: now - configuration.lateErrorPeriod) }
            if state.silenceCounts {
                if state.silenceConfirms, let stamp = link.cumulative!.clock.ask() { connection.listen(stamp: stamp) }
            } else if state.clock.isIdle, state.window.unconfirmed > 0 {
                wantBarrier(link)
            }
            // A million entries must not wait for silence in memory: from half a window on, proof is asked for.
            if state.window.unconfirmed >= max(linkWindowLimit / 2, 1) || link.isDraining { wantBarrier(link) }
            if case .wanted = link.cumulative!.barrier, pool.contains(number) { retire(number, now: now) }
            closeDrained(link)
            if case .written(let deadline) = link.cumulative!.barrier, deadline <= now {
                log(
                    .barrierUnanswered, "a barrier was not answered within \(configuration.barrierLimit)",
                    ["connection": .count(number)])
                connection.close(deadline: .zero)
                link.cumulative!.barrier = .written(deadline: now + configuration.barrierLimit)
            }
        }
    }

    /// One that takes nothing more, and of which nothing is left to be proven.
    private func closeDrained(_ link: Link) {
        guard link.isDraining, !link.isClosing, link.cumulative!.window.unconfirmed == 0,
            !link.cumulative!.awaitsProof
        else { return }
        link.isClosing = true
        link.connection?.close(deadline: .zero)
    }

    func wantBarrier(_ link: Link) {
        guard let state = link.cumulative, case .none = state.barrier, state.connection.canWriteBarrier else { return }
        // A connection that is given up takes with it what might deny that silence was right.
        let isGivenUp = shutdownDeadline != nil || link.isDraining
        guard state.window.unconfirmed > 0 || isGivenUp && state.quiet.count > 0 else { return }
        link.cumulative!.barrier = .wanted
    }

    /// A barrier costs its connection: it is written when new traffic goes another way, or has none.
    func writeWantedBarriers(now: Duration) {
        if pool.active.isEmpty, pool.isMaking { return }
        for (number, link) in orderedLinks {
            guard case .wanted? = link.cumulative?.barrier, link.connection != nil, !pool.contains(number) else {
                continue
            }
            log(.barrierWritten, "a barrier is written", ["connection": .count(number)])
            writeBarrier(link, now: now)
        }
    }

    func writeBarrier(_ link: Link, now: Duration) {
        guard let connection = link.cumulative?.connection else { return }
        link.cumulative!.barrier = .written(deadline: now + configuration.barrierLimit)
        connection.writeBarrier()
    }

    func wakesOf(_ link: Link) -> [Duration] {
        guard link.connection != nil else { return [] }
        var wakes: [Duration] = link.pausedUntil.map { [$0] } ?? []
        guard let state = link.cumulative else { return wakes }
        if case .written(let deadline) = state.barrier { return wakes + [deadline] }
        if state.silenceCounts || !state.clock.isIdle, let look = state.clock.nextLook { wakes.append(look) }
        return wakes
    }
}

extension PayloadError {
    /// Something was settled by it. Where each first notification is put off, connecting again at once would storm.
    fileprivate var isFinal: Bool {
        guard case .refused(let result) = kind, case .rejected = result.verdict else { return false }
        return true
    }
}
