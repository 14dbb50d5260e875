internal import Holdfast

/// What is on disk, against what must be there.
extension World {
    /// Looks at the disk after each commit.
    func reconcile() {
        guard storage.changes != reconciledChanges || !rules.receipts.isEmpty else { return }
        reconciledChanges = storage.changes
        let disk = snapshot
        reconciliations += 1
        var new: [Arrival] = []
        for lane in disk.laneList {
            lane.entries.visitAll { uid, record in
                guard !see(uid, record, lane.key, isDeferred: false) else { return }
                new.append(Arrival(uid: uid, record: record, lane: lane.key))
            }
            lane.deferred.visitAll { uid, entry in
                guard !see(uid, entry.record, lane.key, isDeferred: true) else { return }
                new.append(Arrival(uid: uid, record: entry.record, lane: lane.key, isDeferred: true))
            }
        }
        for (_, uid) in disk.aside.all {
            guard let record = disk.aside[uid]?.record else { continue }
            let isRecallAsked = ledger[uid]?.isRecallAsked == true
            if !see(uid, record, nil, isDeferred: false) {
                violate(1, "entry \(uid) lies aside and was never accepted")
            }
            ledger[uid]?.isAside = true
            ledger[uid]?.isRecallAsked = isRecallAsked
        }
        for (uid, rejection) in disk.rejections.range(after: ledger.greatest) where ledger[uid] == nil {
            guard let lane = disk.lane(rejection.record.lane)?.key else { continue }
            new.append(Arrival(uid: uid, record: rejection.record, lane: lane, rejection: rejection.cause))
        }
        for arrival in new.sorted(by: { $0.uid < $1.uid }) { arrived(arrival) }
        seeQuarantined(disk)
        var someEnded = new.contains { $0.rejection != nil }
        for entry in ledger.open where entry.seen != reconciliations && entry.outcome == nil {
            ended(entry, disk)
            someEnded = true
        }
        if someEnded { ledger.removeSettled() }
        outcomesSeen = disk.outcomes.figures.newest
        let waiting = journal.unreadOutcomeCount
        let handedOut = waiting - min(waiting, rules.everWithdrawn.count)
        // What leaves its place aside is not held up by the limit.
        let limit = swarm.engine.outcomeLimit + rules.everAside
        if swarm.engine.keepsOutcomes, handedOut > limit {
            violate(7, "\(handedOut) outcomes wait to be taken; the limit is \(limit)")
        }
        checkReceipts()
    }

    /// - Parameter lane: nil where it says nothing.
    /// - Returns: false for one that is new.
    private func see(_ uid: UID, _ record: InMemoryDisk.Record, _ lane: LaneKey?, isDeferred: Bool) -> Bool {
        guard let entry = ledger[uid] else { return false }
        if let lane, lane != entry.lane { seeMoved(entry, to: lane) }
        entry.seen = reconciliations
        entry.isDeferred = isDeferred
        entry.isAside = false
        entry.isRecallAsked = false
        if isDeferred { entry.wasDeferred = true }
        entry.isFlagged = record.isPossiblySent
        if entry.outcome != nil { violate(2, "entry \(uid) is unconfirmed again after it had ended") }
        if record.attempts > 0 { checkAttempts(of: entry, record.attempts) }
        return true
    }

    private func checkAttempts(of entry: LedgerEntry, _ attempts: UInt16) {
        let counted = entry.copies.count {
            $0.word == .deferred || $0.word == .unknown || $0.word == .notProcessed && entry.wasBlamed
        }
        let own = counted + Int(entry.history?.attempts ?? 0)
        if Int(attempts) > own {
            violate(6, "entry \(entry.uid) has \(attempts) attempts on its record, of which \(own) are its own")
        }
    }

    /// What cannot be read has no end, and holds nothing up.
    private func seeQuarantined(_ disk: InMemoryDisk) {
        var hasNew = false
        for (uid, _) in disk.quarantined.all {
            guard let entry = ledger[uid] else { continue }
            entry.seen = reconciliations
            entry.isAside = false
            if !entry.isDamaged { violate(1, "entry \(uid) is in quarantine, and nothing is wrong with it") }
            if entry.outcome != nil { violate(2, "entry \(uid) is in quarantine after it had ended") }
            if !entry.isQuarantined { (entry.isQuarantined, hasNew) = (true, true) }
        }
        if hasNew { ledger.setAsideQuarantined() }
        for entry in ledger.quarantined where entry.seen != reconciliations { ended(entry, disk) }
        ledger.forgetEndedQuarantined()
    }

    /// An entry that is on disk for the first time.
    private struct Arrival {
        let uid: UID
        let record: InMemoryDisk.Record
        let lane: LaneKey
        var isDeferred = false
        /// Of one that an operator has imported as a rejection.
        var rejection: RejectionCause?
    }

    private func arrived(_ arrival: Arrival) {
        let (uid, record, lane) = (arrival.uid, arrival.record, arrival.lane)
        guard let notification = record.notification, let serial = SimulatedApplication.serial(notification),
            let submitted = application.submitted[serial]
        else {
            return violate(1, "entry \(uid) on disk was never submitted")
        }
        if uid <= ledger.greatest { violate(1, "UID \(uid) came after \(ledger.greatest)") }
        checkAsSubmitted(uid, notification, submitted)
        let entry = LedgerEntry(
            uid: uid, lane: lane, serial: serial, notification: notification, producer: submitted.producer)
        checkNotTwice(entry)
        entry.seen = reconciliations
        if !application.retried.contains(entry.serial) { entry.history = submitted.history }
        entry.isFlagged = record.isPossiblySent
        entry.isDeferred = arrival.isDeferred
        entry.wasDeferred = arrival.isDeferred
        if let cause = arrival.rejection {
            entry.outcome = .rejected(cause.reason)
            entry.delivered = entry.outcome
        }
        ledger.add(entry)
    }

    private func checkAsSubmitted(_ uid: UID, _ stored: PushNotification, _ submitted: SimulatedApplication.Submitted) {
        var wanted = submitted.notification
        wanted.id = wanted.id ?? stored.id
        wanted.environment = nil
        wanted.expiration = wanted.expiration ?? stored.expiration
        // An operator sends a rejection again: for as long as a new one.
        if let serial = SimulatedApplication.serial(stored), application.retried.contains(serial) {
            wanted.expiration = stored.expiration
        }
        if stored != wanted { violate(1, "entry \(uid) is not what was submitted") }
    }

    /// A notification with an id of its sender's own is taken once, however often it is submitted.
    private func checkNotTwice(_ entry: LedgerEntry) {
        guard let known = ledger.bySerial[entry.serial]?.last, !application.retried.contains(entry.serial) else {
            return
        }
        if application.submitted[entry.serial]?.notification.id == nil || !mayHaveForgotten(known) {
            violate(1, "entry \(entry.uid) repeats entry \(known.uid), which the journal remembers")
        }
    }

    private func mayHaveForgotten(_ entry: LedgerEntry) -> Bool { rules.hasTrimmed }

    private func ended(_ entry: LedgerEntry, _ disk: InMemoryDisk) {
        let kept = disk.outcomes[entry.uid]
        // In the commit in which it would have been recalled, it may have had to give way to others before.
        let asked = entry.requested.last ?? (entry.isRecallAsked ? .confirmed : nil)
        guard let terminal = kept?.terminal ?? (entry.isAside ? .confirmed : asked) else {
            entry.outcome = .withdrawn
            return violate(1, "entry \(entry.uid) has gone without a settlement")
        }
        if let other = entry.requested.first(where: { $0 != terminal }), !isTakenBackInFlight(entry) {
            violate(2, "entry \(entry.uid) was settled as \(terminal) and as \(other)")
        }
        if entry.isAside || entry.isRecallAsked, isDeniedInTime(entry) {
            violate(2, "entry \(entry.uid) is confirmed, and an error denied it while it was kept aside")
        }
        entry.outcome = terminal
        note("entry \(entry.uid) ended: \(terminal)")
    }

    /// The engine was told that the service has discarded it, while it was kept aside and had neither to give way nor been
    /// there for long.
    private func isDeniedInTime(_ entry: LedgerEntry) -> Bool {
        guard let last = entry.lastCopy, last.life == life, last.word == .notProcessed else { return false }
        return swarm.engine.lateErrorLimit == 1_000_000 && swarm.engine.lateErrorPeriod >= .seconds(60)
            && !isClockSuspect
    }

    /// Nothing of what was refused is on disk; unless it was submitted at another time as well.
    private func checkRefused(_ serial: UInt64) {
        guard let submitted = application.submitted[serial], submitted.receipts.count == 1, submitted.isPending == 0,
            submitted.life == life, let entry = ledger.bySerial[serial]?.first
        else { return }
        violate(1, "serial \(serial) was refused, and is entry \(entry.uid)")
    }

    private func checkReceipts() {
        for (serial, receipt) in rules.receipts {
            switch receipt {
            case .accepted(let uid):
                if ledger[uid]?.serial != serial {
                    violate(1, "serial \(serial) was accepted as \(uid), and is not on disk")
                }
            case .repeated(let uid, let outcome):
                if ledger[uid]?.serial != serial || ledger[uid]?.outcome != outcome {
                    violate(1, "serial \(serial) is called a repeat of \(uid), which ended as \(outcome)")
                }
            case .refused: checkRefused(serial)
            case .undetermined: break
            }
        }
        rules.receipts = []
    }
}
