internal import Holdfast

/// Hosts that have lost the journal: they go on until they are told, with what they had.
extension World {
    func core(ofLife life: Int) -> EngineCore? {
        life == self.life ? core : formerOwners.first { $0.life == life }?.core
    }

    func stepFormerOwners() {
        for former in formerOwners where former.resumesAt <= now && ownerDice.chance(0.7) {
            step(former)
            lookAtEnd(of: former)
        }
    }

    private func step(_ former: FormerOwner) {
        switch ownerDice.number(0...9) {
        case 0...3:
            turn(former, ownerDice.pick(former.consumers))
            // What the turn has asked for, such as a mark, may come to the store before anything else does.
            if ownerDice.chance(0.5) { commit(former) }
        case 4...7:
            guard !former.peers.isEmpty else { return }
            ownerDice.pick(former.peers).progress()
            former.peers.removeAll(where: \.isOver)
        case 8: commit(former)
        default: if ownerDice.chance(0.05) { remove(former, "was killed") }
        }
    }

    private func turn(_ former: FormerOwner, _ consumer: Int) {
        guard former.core.end(of: consumer) == nil else { return }
        note("turn of the former owner of life \(former.life)")
        _ = former.core.turn(route: consumer)
        if former.wasRefused, former.core.end(of: consumer) == nil {
            violate(
                9, "the engine of life \(former.life) goes on, and was told that another host has taken the journal")
        }
    }

    /// Tells what was committed before the takeover, or has the next commit refused.
    private func commit(_ former: FormerOwner) {
        guard former.reconnectsAt <= now else { return }
        guard former.journal.moment == nil else { return former.journal.stepCommit() }
        let hasMore = former.journal.waitingCount > 0
        former.journal.commitBlacklist()
        former.journal.commit()
        note("the former owner of life \(former.life) commits\(hasMore ? "" : " nothing")")
        checkRefused(former)
        if hasMore { former.wasRefused = true }
    }

    /// Nothing of a former owner is committed: least of all a mark, behind which it would hand out what the new owner takes for
    /// never sent.
    private func checkRefused(_ former: FormerOwner) {
        let disk = former.journal.state.withLock(\.disk)
        for (id, lane) in disk.lanes where lane.mark > former.found.lane(id)?.mark ?? .none {
            violate(
                3,
                "a former owner has raised the mark of \(lane.key) to \(lane.mark), and the new one has found "
                    + "\(former.found.lane(id)?.mark ?? .none)")
        }
        if disk.nextUID > former.found.nextUID {
            violate(1, "a former owner has accepted up to \(disk.nextUID), which the new one does not know")
        }
    }

    private func lookAtEnd(of former: FormerOwner) {
        let ends = former.consumers.compactMap { former.core.end(of: $0) }
        // A commit may be in doubt for it as for any owner: then it ends, too.
        let known: [JournalError.Code] = [.ownershipLost, .undetermined, .mustBeReopened]
        for case .failed(let error) in ends where !known.contains(error.code) {
            violate(9, "the engine of a former owner has given up: \(error.code): \(error)")
        }
        if ends.count == former.consumers.count { remove(former, "has ended") }
    }

    private func remove(_ former: FormerOwner, _ how: String) {
        note("the former owner of life \(former.life) \(how)")
        for peer in former.peers { peer.abandon() }
        formerOwners.removeAll { $0 === former }
    }

    /// All of them reach the store again, and are told.
    func endFormerOwners() {
        for former in formerOwners {
            while former.journal.moment != nil { former.journal.stepCommit() }
            let hasMore = former.journal.waitingCount > 0
            former.journal.commit()
            checkRefused(former)
            former.wasRefused = hasMore || former.wasRefused
            for consumer in former.consumers { turn(former, consumer) }
            lookAtEnd(of: former)
            remove(former, "is gone")
        }
    }

    // MARK: What it hands out

    /// One more copy of an entry is on its way.
    func append(_ entry: LedgerEntry, to peer: any Peer) {
        var copy = Copy(life: peer.life, consumer: peer.consumer, connection: peer.number, handedAt: now)
        if peer.life == life {
            entry.deferralIsAsked = false
        } else {
            (copy.word, copy.isLate) = (.unknown, true)
        }
        entry.copies.append(copy)
    }

    /// A former owner hands out nothing that the new one does not take for sent; and nothing at all if its clock is right.
    func checkLateHandOut(_ handOut: HandOut, to peer: any Peer) {
        let uids = handOut.entries.items.map(\.uid)
        note("life \(peer.life), connection \(peer.number) <- \(uids.map(\.rawValue))")
        guard let former = formerOwners.first(where: { $0.life == peer.life }) else {
            return violate(0, "a connection of an earlier life was given entries")
        }
        checkOwnership(peer)
        if !former.isDeceived {
            violate(3, "entries \(uids) were handed out by a former owner, whose clock is right")
        }
        if former.wasRefused {
            violate(9, "entries \(uids) were handed out by a former owner that was told")
        }
        for uid in uids { checkFence(uid, former) }
    }

    private func checkFence(_ uid: UID, _ former: FormerOwner) {
        guard let entry = ledger[uid], let id = former.found.laneID(of: entry.lane), let lane = former.found.lane(id)
        else { return violate(1, "entry \(uid) was handed out by a former owner, and the new one never had it") }
        guard let record = lane.entries[uid] else {
            return violate(3, "entry \(uid) was handed out by a former owner, and does not wait for the new one")
        }
        if uid > lane.mark, !record.isPossiblySent {
            violate(
                3,
                "entry \(uid) was handed out by a former owner above the mark \(lane.mark) that the new one of \(entry.lane) "
                    + "found")
        }
    }

    /// A former owner promises nothing that the new one does not know.
    func checkLateReceipts(_ receipts: [Receipt], for serials: [UInt64]) {
        for (serial, receipt) in zip(serials, receipts) {
            guard case .accepted(let uid) = receipt, ledger[uid]?.serial != serial else { continue }
            violate(1, "serial \(serial) was accepted as \(uid) by a former owner, and is not in the journal")
        }
    }
}
