internal import Logging

/// Entries that end the connections that they go out on: see ``Caution``.
extension Consumer {
    // MARK: Ends of connections

    /// An entry was left without an answer by a connection that has ended, or asks for another one, and may be the cause.
    func leaveBehind(_ flight: SentWindow.Flight, on link: Link) {
        leaveBehind(flight.uid, through: flight.uid, lane: flight.lane, on: link)
    }

    /// The same for a run of a cumulative window.
    func leaveBehind(_ run: CumulativeWindow.Run, on link: Link) {
        leaveBehind(run.first, through: UID(run.uids.upperBound), lane: run.lane, on: link)
    }

    private func leaveBehind(_ first: UID, through last: UID, lane: Int, on link: Link) {
        let key = EntryKey(lane: lanes[lane].id, uid: first)
        var left = link.left ?? Caution.Leftover(key)
        left.add(key, through: last)
        link.left = left
    }

    /// Draws the conclusions from a turn's events of one connection.
    ///
    /// - Parameter end: how it ended, if it has.
    func learn(from connection: Int, end: ConnectionEnd?) {
        guard let link = links[connection] else { return }
        if caution.wantsAnswers { caution.answered(link.answered) { isOut($0) } }
        link.answered = 0
        if end != nil, link.handOuts == 0 { caution.endedUnused() }
        guard let left = link.left, end != nil || link.isDraining else { return }
        link.left = nil
        // One connection ends once.
        guard !link.hasConcluded, link.leavesByItself || end?.cause != nil else { return }
        link.hasConcluded = true
        let finding = caution.ended(left, wasAlone: link.handOuts == 1)
        if case .careful(let key, let ends) = finding { tellCareful(key, ends: ends, cause: end?.cause) }
    }

    /// Whether the entry is with a connection that has not answered.
    private func isOut(_ key: EntryKey) -> Bool {
        guard let index = lanes.firstIndex(where: { $0.id == key.lane }) else { return false }
        return links.values.contains { $0.isWaitingFor(lane: index, key.uid) }
    }

    private func goesNext(_ key: EntryKey) -> Bool {
        lanes.contains {
            $0.id == key.lane && $0.handsOut && $0.key.guarantee == .atLeastOnce && $0.goesAgain(key.uid) != nil
        }
    }

    private func goesAgain(_ key: EntryKey) -> Bool {
        lanes.contains { $0.id == key.lane && $0.goesAgain(key.uid) != nil }
    }

    /// Whether the entry may be among the deferred: in a lane with one attempt, what goes again comes back from there.
    private func isOnDisk(_ key: EntryKey) -> Bool {
        lanes.contains { $0.id == key.lane && $0.key.guarantee == .atMostOnce }
    }

    // MARK: Hand-outs

    /// Whether anything else than the accused could go out, or is about to come back.
    var othersWait: Bool {
        let accused = caution.passedOver
        return lanes.indices.contains { index in
            let lane = lanes[index]
            guard lane.handsOut else { return false }
            if lane.isPromoting { return true }
            let isAhead =
                lane.key.guarantee == .atLeastOnce
                ? lane.hasForwardWork : lane.wantsForwardPlaces || lane.forwardPlaces > 0
            return isAhead || lane.againCount > accused.count { $0.lane == lane.id && lane.goesAgain($0.uid) != nil }
        }
    }

    /// Whether anything else could still be answered before the accused go. What is out counts: a trial would give up the
    /// connection that has it, and where that takes long, it would go again and be given up again for ever.
    private var othersGo: Bool { othersWait || inFlight > 0 }

    /// How many of what goes again in a lane are ahead of what may come back to it. Those that others go before are not: they
    /// would fill the window, and keep on disk whatever shows which of them end connections.
    func againCount(in index: Int) -> Int {
        let lane = lanes[index]
        guard caution.hasSuspects, lane.againCount > 0, lane.key.guarantee == .atLeastOnce else {
            return lane.againCount
        }
        return lane.againCount - caution.passedOver.count { $0.lane == lane.id && lane.goesAgain($0.uid) != nil }
    }

    /// Entries of a lane that let others go first. None of a lane with one attempt: there they come up, and are deferred.
    func passedOver(in index: Int) -> Set<UID> {
        guard caution.hasSuspects, lanes[index].key.guarantee == .atLeastOnce else { return [] }
        let waiting = othersGo ? caution.passedOver : caution.waitingForConnection + caution.outOfTurn { goesNext($0) }
        return Set(waiting.lazy.filter { [id = lanes[index].id] in $0.lane == id }.map(\.uid))
    }

    /// Why an entry does not go out now that has ended connections.
    func suspicion(of flight: SentWindow.Flight) -> Obstacle? {
        let key = EntryKey(lane: lanes[flight.lane].id, uid: flight.uid)
        switch caution.treatment(of: key, othersWait: flight.hasOneAttempt && othersWait) {
        case .goes: return nil
        case .waits: return .mustWait(caution.pause(of: key, configuration.retry), .endsConnections)
        case .isPutAside(let ends, let counts): return .endsConnections(ends, counts: counts)
        }
    }

    /// An entry that ends connections waits.
    ///
    /// - Parameters:
    ///   - ends: so many of them.
    ///   - counts: whether that is an attempt. If not, nobody is told: the service may be at fault.
    func putAside(
        _ flight: SentWindow.Flight, ticket: Ticket, ends: Int, counts: Bool, wall: WallTime,
        plan: inout SettlementPlan
    ) {
        let key = EntryKey(lane: lanes[flight.lane].id, uid: flight.uid)
        guard counts else {
            let pause = configuration.retry.delay(attempt: ends, random: randomUnit())
            plan.wait(
                flight, ticket: ticket, lane: key.lane, until: wall.advanced(by: pause), reason: .endsConnections)
            return caution.putAside(key)
        }
        let due = plan.countAttempt(
            flight, ticket: ticket, lane: key.lane, reason: .endsConnections, atTheEnd: .endsConnections,
            possiblySent: flight.possiblySentBefore, retry: configuration.retry, wall: wall, random: { randomUnit() })
        if due == nil { caution.forget(key) } else { caution.putAside(key) }
        tellPutAside(flight, ends: ends, until: due, wall: wall)
    }

    /// Hands out the entry whose trial is next, if there is one.
    ///
    /// - Returns: whether nothing else is to go out until then.
    func tryAccused(now: Duration, wall: WallTime) throws(JournalError) -> Bool {
        guard caution.hasSuspects else { return false }
        caution.look(isOut: { isOut($0) }, isWaiting: { goesAgain($0) || isOnDisk($0) })
        if caution.isTrying { return true }
        let fresh = fresh
        caution.trialConnection = trialConnection(isFresh: fresh != nil, now: now)
        for key in caution.trials(othersWait: othersGo) {
            guard let index = lanes.firstIndex(where: { $0.id == key.lane }), lanes[index].isRunning else { continue }
            if let possiblySent = lanes[index].goesAgain(key.uid) {
                guard let fresh, let link = links[fresh], link.pausedUntil == nil else {
                    makeRoom(for: key, now: now)
                    return true
                }
                let again = LaneStateMachine.Again(uid: key.uid, possiblySent: possiblySent)
                try tryAlone(again, of: index, on: fresh, link, now: now, wall: wall)
                return true
            }
            // Without a connection what has one attempt went to disk. Others would take the connection that is for it.
            if fresh != nil, caution.hasRoom(key), comesBack(index, now: now) { return true }
        }
        return try tryGuest(now: now, wall: wall)
    }

    /// Hands out an entry alone on a connection that has carried others, where nothing else is to go.
    private func tryGuest(now: Duration, wall: WallTime) throws(JournalError) -> Bool {
        guard caution.trialConnection == .shared, !othersGo else { return false }
        let open = pool.active.first { links[$0].map { $0.pausedUntil == nil && room(of: $0) > 0 } ?? false }
        guard let open, let link = links[open] else { return false }
        for key in caution.guests {
            guard let index = lanes.firstIndex(where: { $0.id == key.lane }), lanes[index].isRunning,
                let possiblySent = lanes[index].goesAgain(key.uid)
            else { continue }
            caution.invite(key)
            let again = LaneStateMachine.Again(uid: key.uid, possiblySent: possiblySent)
            try tryAlone(again, of: index, on: open, link, now: now, wall: wall)
            return true
        }
        return false
    }

    private func trialConnection(isFresh: Bool, now: Duration) -> Caution.TrialConnection {
        // Where none may follow it, whoever comes next would wait for the one that the accused has ended.
        let mayFollow = pool.mayFollow(now: now)
        if isFresh, mayFollow || caution.hasRoom { return .fresh }
        // Unless connections without work are closed sooner than another may be made: then it would wait for ever.
        if isFresh, caution.hasWaitedInVain, !othersGo { return .fresh }
        if !isFresh, pool.mayReplace(now: now) { return .replaceable }
        return !isFresh && mayFollow ? .shared : .none
    }

    /// A connection that has carried nothing, and takes something.
    private var fresh: Int? {
        pool.active.first { links[$0].map { $0.handOuts == 0 && room(of: $0) > 0 } ?? false }
    }

    /// Whether what is due in a lane with one attempt is on its way back from the disk, or to it.
    private func comesBack(_ index: Int, now: Duration) -> Bool {
        if lanes[index].isPromoting || beingWritten > 0 { return true }
        guard let due = deferredDue[index], due.monotonic <= now else { return false }
        // Where there is room for no more outcomes, what has come back before it has to go first.
        return canPromote(index) && hasRoomForOutcomes(ofPromotionIn: index)
    }

    /// When an entry can have its trial that waits for nothing but a connection.
    func trialWake(now: Duration) -> Duration? {
        guard caution.hasSuspects, !pool.active.isEmpty, holdReason == nil, !caution.waitingForConnection.isEmpty,
            let wake = pool.nextReplacements(now: now).filter({ $0 > now }).min()
        else { return nil }
        return wake
    }

    private func tryAlone(
        _ again: LaneStateMachine.Again, of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime
    ) throws(JournalError) {
        let isKept = lanes[index].key.guarantee == .atMostOnce
        // What has a place keeps it, and goes first where there is no other, in a window or among the outcomes.
        guard inFlight + (isKept ? 0 : keptPlaces()) < placeLimit,
            grant(1, of: index, isKept ? .kept : .free, now: now) > 0
        else { return try fillKeptPlaces(now: now, wall: wall) }
        guard lanes[index].covered([again]) > 0 else { return raise(index, through: again.uid) }
        let batch = try journal.unconfirmed(lanes[index].id, uids: [again.uid])
        lanes[index].takeAgain([again], isFront: false)
        quarantine(batch.unreadable, of: index, wall: wall) { _ in again.possiblySent }
        if batch.isEmpty { caution.forget(EntryKey(lane: lanes[index].id, uid: again.uid)) }
        give(batch, of: index, on: number, link, now: now, wall: wall) { _ in again.possiblySent }
    }

    /// The connections that have carried something end when that is answered; another one follows.
    private func makeRoom(for key: EntryKey, now: Duration) {
        let used = pool.active.filter { links[$0].map { $0.handOuts > 0 } ?? false }
        for number in used { if let link = links[number] { giveUp(number, link, now: now) } }
        if !used.isEmpty { caution.madeRoom(for: key) }
    }

    // MARK: Telling the outside

    private func tellCareful(_ key: EntryKey, ends: Int, cause: String?) {
        log(
            .careful,
            "\(ends) connections have ended with entry \(key.uid) unanswered\(cause.map { " (\($0))" } ?? ""): "
                + "few entries go at a time, until it shows whether one of them is the cause",
            ["uid": .stringConvertible(key.uid), "count": .count(ends)])
    }

    private func tellPutAside(_ flight: SentWindow.Flight, ends: Int, until due: WallTime?, wall: WallTime) {
        let lane = lanes[flight.lane].key
        let next = due.map { "it is tried again, alone, in \($0.since(wall))" } ?? "it is given up"
        var metadata: Logger.Metadata = [
            "lane": .lane(lane), "uid": .stringConvertible(flight.uid), "count": .count(ends),
        ]
        if let due { metadata["wait-ms"] = .milliseconds(due.since(wall)) }
        log(
            .endsConnections,
            "entry \(flight.uid) has ended \(ends) connections that carried nothing else, while others are taken: \(next)",
            metadata)
        events.emit(.endsConnections(lane, flight.uid, connections: ends, nextTrial: due))
    }
}
