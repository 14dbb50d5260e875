internal import Holdfast

/// The end of all trouble: what is left must come to its end, within a bound, and nothing may be lost.
extension World {
    /// In which nothing comes to its end.
    private static let greatestRounds = 20_000

    /// Everybody does at once what is to be done, until all entries have met their ends.
    func heal() {
        note("healing")
        isHealing = true
        let since = now
        spells = [:]
        service.wrongTopics = []
        service.silentTopics = []
        service.busyTopics = []
        service.topicsElsewhere = [:]
        service.strangers = []
        service.isKeyRevoked = false
        quota = nil
        stallUntil = .zero
        healDisk()
        healOwners()
        storage.limitEntries(to: nil)
        for index in service.devices.indices {
            if case .bad = service.devices[index].condition { service.devices[index].condition = .good }
        }
        for index in service.others.indices {
            if case .bad = service.others[index].condition { service.others[index].condition = .good }
        }
        if rules.uniform.values.contains(where: isDoubted) { service.registerAgain() }
        var (rounds, open) = (0, ledger.open.count)
        let healedAt = step
        while rounds < Self.greatestRounds {
            step += 1
            rounds += 1
            settleDown()
            if violation != nil { return }
            // What was submitted before comes with the first commits.
            if step < healedAt + 10 { open = max(open, ledger.open.count) }
            if ledger.open.count < open { (rounds, open) = (0, ledger.open.count) }
            // What could not be written is tried again within a second.
            if isAtRest, now > since + .seconds(1) || nextDue() == nil { return checkRest() }
            checkTopicsAreBack(since)
            if isBusy { continue }
            if mendConnectionEnders() { continue }
            // Only an operator ends what an operator has paused. What stopped by itself tries again by itself.
            if !rules.paused.isEmpty, shutdownDeadline == nil {
                resumePaused()
                continue
            }
            if resumeTags() { continue }
            if lacksRoute {
                addRoute()
                continue
            }
            guard let next = nextDue() else {
                return violate(9, "\(ledger.open.count) entries wait for ever, the first is \(describeFirstOpen())")
            }
            if next > now {
                now = next
                idleTurns = 0
            }
        }
        violate(9, "no rest after \(Self.greatestRounds) rounds; \(ledger.open.count) are open, \(describeFirstOpen())")
    }

    private func describeFirstOpen() -> String {
        ledger.open.first.map { entry in
            "entry \(entry.uid) of \(entry.lane), \(entry.isDeferred ? "deferred" : "waiting"), "
                + "copies \(entry.copies.map { "\($0.word)" })"
        } ?? "none"
    }

    /// Somebody has something to do at this instant.
    private var isBusy: Bool {
        guard let core else { return true }
        return storage.waitingCount > 0 || storage.isBetweenMoments || storage.waitingBlacklistCount > 0
            || consumers.contains { core.end(of: $0) == nil && core.hasNews(route: $0) }
    }

    private func resumePaused() {
        note("resume what is paused")
        for key in laneKeys where rules.paused[key] != nil { core?.resume(key) }
        rules.paused = [:]
    }

    var isAtRest: Bool {
        ledger.open.isEmpty && shutdownDeadline == nil && storage.waitingCount == 0 && !storage.isBetweenMoments
            && journal.unreadOutcomeCount == 0
    }

    /// Everything that can be done at this instant.
    private func settleDown() {
        guard let core else { return }
        for route in consumers.indices
        where core.hasNews(route: consumers[route]) || wakes[route].map({ $0 <= now }) ?? false {
            turn(route)
        }
        commitSome()
        stepConnects()
        stepStragglers()
        takeOutcomes()
        for peer in peers where peer.nextDue.map({ $0 <= now }) ?? false { peer.progress() }
        peers.removeAll { $0.isOver && $0 is AnsweredPeer }
        takeEnds()
    }

    // MARK: At rest

    private func checkRest() {
        note("at rest")
        let disk = snapshot
        let totals = disk.totals
        let ended = totals.ended
        if totals.accepted != ended + UInt64(disk.quarantined.count) {
            violate(
                2,
                "\(totals.accepted) were accepted, \(ended) have ended and \(disk.quarantined.count) are in quarantine: "
                    + "\(totals)")
        }
        if Int(totals.accepted) != ledger.entries.count {
            violate(1, "the journal counts \(totals.accepted) accepted and has had \(ledger.entries.count)")
        }
        checkTotals(totals)
        // Nobody knows which others an entry is like whose record is damaged: it was counted when it came, and is not when it is
        // taken back.
        if disk.newest.count > ledger.entries.count(where: \.isDamaged) {
            violate(11, "\(disk.newest.count) rows tell of newest entries, and all have ended: \(disk.newest.values)")
        }
        checkDelivered()
        checkLastDoor()
        for producer in disk.producers where producer.unconfirmed != 0 {
            violate(1, "producer \(producer.name) has \(producer.unconfirmed) unconfirmed, and nothing is left")
        }
        checkDuplicates(disk)
    }

    private func checkTotals(_ totals: JournalTotals) {
        var mine = JournalTotals()
        for entry in ledger.entries { if let outcome = entry.outcome { mine.add(outcome) } }
        mine.accepted = totals.accepted
        mine.possibleDuplicates = totals.possibleDuplicates
        if mine != totals, !rules.hasTwoWords {
            violate(2, "the journal's totals are \(totals), and the outcomes were \(mine)")
        }
    }
}
