/// Trials of entries that end the connections that they go out on: see ``Caution``.
extension HandOuts {
    /// Hands out the entry whose trial is next, if there is one.
    ///
    /// - Returns: whether nothing else is to go out until then.
    func tryAccused(at now: Moment) throws(JournalError) -> Bool {
        guard judge.caution.hasSuspects else { return false }
        judge.caution.look(isOut: { isOut($0) }, isWaiting: { judge.isWaiting($0) })
        if judge.caution.isTrying { return true }
        let fresh = fresh
        judge.caution.trialConnection = trialConnection(isFresh: fresh != nil, now: now.monotonic)
        for key in judge.caution.trials(othersWait: othersGo) {
            guard let index = lanes.index(of: key.lane), lanes[index].isRunning else { continue }
            if let possiblySent = lanes[index].machine.goesAgain(key.uid) {
                guard let fresh, let link = connections[fresh], link.pausedUntil == nil else {
                    makeRoom(for: key, now: now.monotonic)
                    return true
                }
                let again = LaneStateMachine.Again(uid: key.uid, possiblySent: possiblySent)
                try tryAlone(again, of: index, on: fresh, link, at: now)
                return true
            }
            // Without a connection what has one attempt went to disk. Others would take the connection that is for it.
            if fresh != nil, judge.caution.hasRoom(key), comesBack(index, now: now.monotonic) { return true }
        }
        return try tryGuest(at: now)
    }

    private var othersGo: Bool { judge.othersGo(inFlight: connections.inFlight) }

    /// Whether the entry is with a connection that has not answered.
    func isOut(_ key: EntryKey) -> Bool {
        lanes.index(of: key.lane).map { connections.isOut(lane: $0, key.uid) } ?? false
    }

    /// Hands out an entry alone on a connection that has carried others, where nothing else is to go.
    private func tryGuest(at now: Moment) throws(JournalError) -> Bool {
        guard judge.caution.trialConnection == .shared, !othersGo else { return false }
        let open = connections.pool.active.first { places.openWithRoom($0) != nil }
        guard let open, let link = connections[open] else { return false }
        for key in judge.caution.guests {
            guard let index = lanes.index(of: key.lane), lanes[index].isRunning,
                let possiblySent = lanes[index].machine.goesAgain(key.uid)
            else { continue }
            judge.caution.invite(key)
            let again = LaneStateMachine.Again(uid: key.uid, possiblySent: possiblySent)
            try tryAlone(again, of: index, on: open, link, at: now)
            return true
        }
        return false
    }

    private func trialConnection(isFresh: Bool, now: Duration) -> Caution.TrialConnection {
        // Where none may follow it, whoever comes next would wait for the one that the accused has ended.
        let mayFollow = connections.pool.mayFollow(now: now)
        if isFresh, mayFollow || judge.caution.hasRoom { return .fresh }
        // Unless connections without work are closed sooner than another may be made: then it would wait for ever.
        if isFresh, judge.caution.hasWaitedInVain, !othersGo { return .fresh }
        if !isFresh, connections.pool.mayReplace(now: now) { return .replaceable }
        return !isFresh && mayFollow ? .shared : .none
    }

    /// A connection that has carried nothing, and takes something.
    private var fresh: Int? {
        connections.pool.active.first {
            connections[$0].map { $0.flights.handOuts == 0 && places.room(of: $0) > 0 } ?? false
        }
    }

    /// Whether what is due in a lane with one attempt is on its way back from the disk, or to it.
    private func comesBack(_ index: Int, now: Duration) -> Bool {
        if lanes[index].machine.isPromoting || performer.isWriting || quarantines.isUnderWay { return true }
        guard lanes[index].deferral.isDue(now) else { return false }
        // Where there is room for no more outcomes, what has come back before it has to go first.
        return promotions.canPromote(index) && promotions.hasRoomForOutcomes(index)
    }

    /// When an entry can have its trial that waits for nothing but a connection.
    func nextTrial(now: Duration) -> Duration? {
        guard judge.caution.hasSuspects, !connections.pool.active.isEmpty, places.holdReason == nil,
            !judge.caution.waitingForConnection.isEmpty
        else { return nil }
        return connections.pool.nextReplacements(now: now).filter { $0 > now }.min()
    }

    private func tryAlone(
        _ again: LaneStateMachine.Again, of index: Int, on number: Int, _ link: Link, at now: Moment
    ) throws(JournalError) {
        let isKept = lanes[index].hasOneAttempt
        // What has a place keeps it, and goes first where there is no other, in a window or among the outcomes.
        guard places.hasPlace(isKept: isKept),
            places.grant(1, of: index, isKept: isKept, now: now.monotonic).going > 0
        else { return try fillKeptPlaces(at: now) }
        guard lanes[index].machine.covered([again]) > 0 else { return raise(index, through: again.uid) }
        let batch = try context.journal.unconfirmed(lanes[index].id, uids: [again.uid])
        lanes[index].machine.takeAgain([again], isFront: false)
        quarantines.order(batch.unreadable, of: index, wall: now.wall) { _ in again.possiblySent }
        if batch.isEmpty { judge.caution.forget(lanes.key(index, again.uid)) }
        give(batch, of: index, on: number, link, at: now) { _ in again.possiblySent }
    }

    /// The connections that have carried something end when that is answered; another one follows.
    private func makeRoom(for key: EntryKey, now: Duration) {
        let used = connections.pool.active.filter { connections[$0].map { $0.flights.handOuts > 0 } ?? false }
        for number in used { connections.giveUp(number, now: now) }
        if !used.isEmpty { judge.caution.madeRoom(for: key) }
    }
}
