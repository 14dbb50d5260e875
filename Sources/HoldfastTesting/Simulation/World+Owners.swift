internal import Holdfast

/// The journal is in a store that two hosts reach. One owns it; the other one takes it when the owner's beats stand still.
extension World {
    /// Whether another host may take the journal.
    var hasOwners: Bool { swarm.rate(.takesOver) > 0 && storage.canBeTaken }

    /// Until when the process of that life may hand out, as it believes; nil for any time.
    func handOutUntil(life: Int) -> Duration? {
        guard hasOwners else { return nil }
        if let former = formerOwners.first(where: { $0.life == life }) { return former.handOutUntil }
        // All is well from then on, and time goes in leaps.
        guard !isHealing, life == self.life else { return nil }
        owner.beat(at: now)
        return owner.handOutUntil()
    }

    /// Nothing is handed out by a host that doesn't know whether the journal is its own.
    func checkOwnership(_ peer: any Peer) {
        guard let until = handOutUntil(life: peer.life), now >= until else { return }
        violate(
            3,
            "something was handed out at \(now.wholeMilliseconds) ms, and the host knows until \(until.wholeMilliseconds) "
                + "that it owns the journal")
    }

    func troubleOwners() {
        guard hasOwners else { return }
        stepFormerOwners()
        if owner.standstill != nil { return standStill() }
        guard core != nil, shutdownDeadline == nil, retiring.isEmpty, failUntil == .zero,
            ownerDice.chance(swarm.rate(.takesOver))
        else { return }
        happened(.takesOver)
        let trouble = ownerDice.pick([SimulatedOwner.Trouble.stopped, .stopped, .cutOff, .beatsOnly])
        note("beats stand still: \(trouble)")
        owner.stand(trouble, at: now, &ownerDice)
        if trouble == .cutOff, ownerDice.chance(0.5) { storage.cutOff(true) }
    }

    private func standStill() {
        // What is waited for takes seconds, and a step takes none.
        if ownerDice.chance(0.2) {
            now += .milliseconds(ownerDice.number(1...Int(owner.times.beat.wholeMilliseconds)))
            idleTurns = 0
        }
        owner.carryOutBeat(at: now)
        guard let standstill = owner.standstill else { return }
        if standstill.isEnding, standstill.beat == nil { return endStandstill() }
        if standstill.until <= now, !standstill.isEnding {
            note("the beats go on")
            storage.cutOff(false)
            owner.resume(at: now, &ownerDice)
        }
        let store = owner.sighting
        guard owner.standstill?.taker.step(at: now, store: store, &ownerDice) == .taken else { return }
        takeOver()
    }

    private func endStandstill() {
        note("the journal was not taken")
        storage.cutOff(false)
        owner.standstill = nil
    }

    /// The trouble of owners ends: those that were cut off are not any more.
    func healOwners() {
        guard hasOwners else { return }
        if owner.standstill != nil { endStandstill() }
        endFormerOwners()
    }

    // MARK: Taking over

    /// The journal's row names another owner from now on, and its engine begins.
    private func takeOver() {
        guard let core, let standstill = owner.standstill, let journal = storage.takeOver() else { return }
        note("another host takes the journal")
        checkLastDoor()
        checkCovered()
        checkAhead()
        let resumesAt = standstill.trouble == .stopped ? max(standstill.until, now) : now
        // The look at the clock may have been the last thing before it was stopped.
        let isDeceived = standstill.trouble == .stopped && !standstill.isEnding && ownerDice.chance(0.8)
        let blind = max(owner.handOutUntil(), standstill.since) + (resumesAt - standstill.since)
        // It may take a while until it is told.
        let silence = isDeceived ? owner.times.hold * ownerDice.unit() : .zero
        formerOwners.append(
            FormerOwner(
                life: life, core: core, journal: journal, consumers: consumers, peers: peers, found: snapshot,
                resumesAt: resumesAt, reconnectsAt: max(standstill.until, now) + silence,
                handOutUntil: isDeceived ? blind : owner.handOutUntil(), isDeceived: isDeceived))
        moveClock()
        self.core = nil
        forgetLife()
        open()
    }

    /// Hosts' wall clocks differ.
    private func moveClock() {
        guard swarm.rate(.clockBack) > 0 || swarm.rate(.clockForward) > 0, ownerDice.chance(0.3) else { return }
        setClock(by: (swarm.rate(.clockBack) > 0 && ownerDice.chance(0.5) ? -1 : 1) * 7_200_000)
    }

    /// What the new owner has to take for sent, and never was, is bounded by how far marks go ahead of the reading.
    private func checkAhead() {
        for (_, lane) in snapshot.lanes where lane.key.guarantee == .atLeastOnce {
            var count = 0
            lane.entries.visitAll { uid, record in
                guard uid <= lane.mark, !record.isPossiblySent, let entry = ledger[uid] else { return }
                if entry.copies.isEmpty, !entry.isPossiblySentByRule { count += 1 }
            }
            // Marks go half a window to a whole one ahead, and what was read may have been put back.
            let limit = 2 * max(swarm.engine.window, 1)
            if count > limit {
                violate(
                    3,
                    "\(count) entries of \(lane.key) would go as possible duplicates, and never left; at most \(limit) may"
                )
            }
        }
    }
}
