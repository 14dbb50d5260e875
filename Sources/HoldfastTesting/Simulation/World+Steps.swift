internal import Holdfast

/// One thing after the other, as the dice say.
extension World {
    /// The next step of a time of trouble.
    func takeStep() {
        step += 1
        makeTrouble()
        let sum = swarm.turnWeight + swarm.commitWeight + swarm.peerWeight + swarm.submissionWeight + 2
        var roll = dice.unit() * sum
        func falls(_ weight: Double) -> Bool {
            roll -= weight
            return roll < 0
        }
        if falls(swarm.turnWeight) {
            turnSome()
        } else if falls(swarm.commitWeight) {
            commitSome()
        } else if falls(swarm.peerWeight) {
            stepPeers()
        } else if falls(swarm.submissionWeight) {
            submitSome()
        } else if falls(1) {
            stepConnects()
            stepStragglers()
            takeOutcomes()
        } else {
            advance()
        }
        takeEnds()
    }

    func advance() {
        if dice.chance(0.4), let next = nextDue(), next > now {
            now = next
        } else {
            now += dice.duration(milliseconds: 1...1500)
        }
        idleTurns = 0
    }

    /// The earliest instant at which anything in the world has something to do.
    func nextDue() -> Duration? {
        let dues =
            wakes.compactMap { $0 } + connects.map(\.dueAt) + peers.compactMap(\.nextDue)
            + (stragglers.isEmpty ? [] : [now])
        return dues.min()
    }

    // MARK: The engine

    private func turnSome() {
        guard let core, !owner.isStopped else { return }
        let route = dice.number(0...consumers.count - 1)
        let isDue = wakes[route].map { $0 <= now } ?? false
        guard core.hasNews(route: consumers[route]) || isDue || dice.chance(0.05) else { return }
        turn(route)
    }

    func turn(_ route: Int) {
        let number = consumers[route]
        guard let core, core.end(of: number) == nil else { return }
        turns += 1
        lookAtClocks()
        abandonOverdue(of: number)
        previousTurn = lastTurns[route]
        lastTurns[route] = turns
        defer { if core.end(of: number) == nil { checkShutdown(route) } }
        let hadNews = core.hasNews(route: number)
        let before = activity
        let wake = core.turn(route: number)
        checkOvertaken()
        wakes[route] = core.end(of: number) == nil ? wake : nil
        checkTopics()
        note("turn of route \(route), wakes \(wake.map { "\($0.wholeMilliseconds)" } ?? "-")")
        guard !hadNews, before == activity, let wake, wake <= now, !core.hasNews(route: number) else {
            idleTurns = 0
            return
        }
        idleTurns += 1
        if idleTurns > 5 {
            violate(9, "route \(route) wants to be stepped again at once, without end, and does nothing")
        }
    }

    /// An orderly end has a limit.
    private func checkShutdown(_ route: Int) {
        guard shutdownDeadline != nil else { return }
        guard let seen = shutdownsSeen[route] else {
            shutdownsSeen[route] = now
            return
        }
        if now > seen + swarm.engine.shutdownLimit + .seconds(2) {
            violate(9, "route \(route) has not ended 2 s after the limit of its shutdown")
        }
    }

    // MARK: The disk

    func commitSome() {
        if stallUntil > now || owner.isCutOff && !storage.refusesCutOff { return }
        if strikes(.diskStall) {
            stallUntil = now + dice.duration(milliseconds: 10...20_000)
            return
        }
        if dice.chance(0.3) || isHealing, storage.waitingBlacklistCount > 0 {
            storage.commitBlacklist()
        }
        if storage.isBetweenMoments {
            stepCommit()
            return reconcile()
        }
        guard storage.waitingCount > 0 else { return reconcile() }
        if strikes(.undeterminedThere, times: 0.3) {
            breakCommit(isKept: true)
        } else if strikes(.undeterminedGone, times: 0.3) {
            breakCommit(isKept: false)
        } else if dice.chance(0.3), !isHealing {
            commit(atMost: dice.number(1...storage.waitingCount))
        } else {
            commit(atMost: .max)
            // A trim is many small commits, and nobody does anything between them any more.
            while isHealing, storage.waitingCount > 0 { commit(atMost: .max) }
        }
        reconcile()
        checkStandingLanes()
    }

    private func commit(atMost count: Int) {
        if swarm.commitsInMoments, !isHealing {
            storage.beginCommit(atMost: count)
            note("commit begun")
        } else {
            storage.commit(atMost: count)
            note("commit")
        }
    }

    /// Takes the commit under way a moment further, or some.
    private func stepCommit() {
        if isHealing { return storage.finishCommit() }
        for _ in 0..<dice.steep(1...5) where storage.isBetweenMoments { storage.stepCommit() }
        note(storage.isBetweenMoments ? "commit goes on" : "commit is over")
    }

    /// While a lane with one attempt stands still, a crash must not make unknown what provably never left: nothing of that
    /// may lie below the mark.
    private func checkStandingLanes() {
        guard let core, storage.waitingCount == 0, !storage.isBetweenMoments, storage.waitingBlacklistCount == 0,
            failUntil == .zero, !rules.loweringHasFailed, !rules.hasFailed,
            !consumers.contains(where: { core.hasNews(route: $0) || core.end(of: $0) != nil })
        else { return }
        let disk = snapshot
        for lane in core.status().lanes where lane.stoppedBecause != nil && lane.key.guarantee == .atMostOnce {
            guard let id = disk.laneID(of: lane.key), let onDisk = disk.lane(id) else { continue }
            for (uid, _) in onDisk.entries.all where uid <= onDisk.mark {
                guard let entry = ledger[uid], !entry.isPossiblySentByRule, !entry.mayHaveBeenTaken(life: life),
                    entry.requested.isEmpty, !isSuspended(entry)
                else { continue }
                violate(2, "a crash would make entry \(uid) unknown, which never left: lane \(lane.key) stands still")
            }
        }
    }

    /// Called bad, and not judged yet.
    private func isSuspended(_ entry: LedgerEntry) -> Bool {
        if case .rejected? = entry.lastCopy?.word { return true }
        return false
    }

    /// The journal is no use until it is reopened; the engine must find out by itself.
    private func breakCommit(isKept: Bool) {
        guard storage.breakCommit(isKept: isKept), let core else { return }
        for route in consumers.indices where core.end(of: consumers[route]) == nil {
            turn(route)
            if core.end(of: consumers[route]) == nil {
                violate(1, "route \(route) goes on after a commit of which nobody knows what it left")
            }
        }
    }

    // MARK: The outside

    func stepPeers() {
        guard !peers.isEmpty else { return }
        dice.pick(peers).progress()
        peers.removeAll { $0.isOver && !dice.chance(0.9) && $0 is AnsweredPeer }
    }
}
