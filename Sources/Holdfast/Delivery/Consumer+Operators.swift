internal import Logging

/// What operators and applications ask of a route while it works.
extension Consumer {
    func takeOperators(_ received: ConsumerInbox, now: Duration, wall: WallTime) {
        for order in received.orders { take(order, wall: wall) }
        for (index, error) in received.statesNotNoted {
            log(
                .stateNotNoted, "the journal does not know that lane \(lanes[index].key) changed its state: \(error)",
                ["lane": .lane(lanes[index].key), "code": .string(error.code.name)])
        }
        for inquiry in received.inquiries { inquiry.completion(insights(inquiry.uids)) }
        takeWithdrawals(received.withdrawals, now: now, wall: wall)
        for _ in 0..<received.restoresBegun { for index in lanes.indices { lanes[index].beginRestoring() } }
        if received.hasRestored {
            for index in lanes.indices {
                lanes[index].endRestoring(received.restoresEnded)
                if refreshDeferred(index, now: now) { topicHold.lookThrough(lane: index) }
            }
        }
        if received.barrierAsked { for link in links.values { wantBarrier(link) } }
        housekeeping.trimmed(received.trimmed, now: now)
    }

    // MARK: Lanes

    private func take(_ order: LaneOrder, wall: WallTime) {
        guard let index = lanes.firstIndex(where: { $0.id == order.lane }) else { return }
        switch order.kind {
        case .resume:
            topicHold.hurry(now: clock.monotonic(), wall: wall)
            throttle.hurry()
            // The service says at once if it still wants none.
            parkedUntil = nil
            if !lanes[index].isRunning {
                lanes[index].resume()
                probes[index].end()
                uniforms[index] = UniformRefusals()
                events.emit(.laneResumed(lanes[index].key))
                laneChanged(index)
            }
        case .pause(let reason):
            lanes[index].pause(reason, since: wall)
            probes[index].end()
            events.emit(.lanePaused(lanes[index].key))
            laneChanged(index)
        }
        journal.setState(of: order.lane, to: lanes[index].state, completion: order.completion)
    }

    /// So that a restart, and those who look at the journal, know it too. It decides nothing in this process.
    func noteState(_ index: Int) {
        journal.setState(of: lanes[index].id, to: lanes[index].state) { [weak self] result in
            guard case .failure(let error) = result else { return }
            self?.post { $0.statesNotNoted.append((index, error)) }
        }
    }

    // MARK: Withdrawals

    private func takeWithdrawals(_ orders: [WithdrawalOrder], now: Duration, wall: WallTime) {
        let orders = withdrawalsInWaiting + orders
        withdrawalsInWaiting = []
        for order in orders {
            guard let index = lanes.firstIndex(where: { $0.id == order.lane }) else { continue }
            if lanes[index].isPromoting {
                // What is coming back may be among the entries already, and this side does not know of it yet.
                withdrawalsInWaiting.append(order)
            } else {
                withdraw(order, lane: index, wall: wall)
            }
        }
    }

    private func withdraw(_ order: WithdrawalOrder, lane index: Int, wall: WallTime) {
        var settlements: [Settlement] = []
        do throws(JournalError) {
            for uid in Set(order.uids).sorted() {
                guard let kind = try withdrawal(of: uid, lane: index) else { continue }
                settlements.append(Settlement(EntryKey(lane: order.lane, uid: uid), kind))
            }
        } catch {
            return order.completion(.failure(error))
        }
        // All are looked at before any is changed: a read that fails leaves everything as it was.
        for settlement in settlements {
            withdrawing.insert(settlement.key)
            for link in links.values {
                link.window.disown(lane: index, settlement.key.uid)
                if link.cumulative?.window.isUnconfirmed(lane: index, settlement.key.uid) == true {
                    link.cumulative!.withdrawn.insert(settlement.key)
                }
            }
            releaseSuspect(settlement.key.uid)
        }
        guard !settlements.isEmpty else { return order.completion(.success(Withdrawal(gone: order.uids.count))) }
        var plan = SettlementPlan()
        plan.now.batch.others = settlements
        plan.now.withdrawal = SettlementPlan.Withdrawal(asked: order.uids.count, completion: order.completion)
        if let work = settler.work(for: plan, wall: wall) { write(work, connection: Self.noConnection) }
    }

    /// One that is taken back is not judged any more. It keeps its place until that is on disk.
    private func releaseSuspect(_ uid: UID) {
        guard breakers.release(uid, now: clock.monotonic()) else { return }
        suspectTokens = Set(breakers.suspects.map(\.token))
    }

    private func freePlaces(of settlements: [Settlement]) {
        for index in lanes.indices {
            lanes[index].takenBack(
                settlements.lazy.filter { [id = lanes[index].id] in $0.key.lane == id }.map(\.key.uid))
        }
        for (number, link) in orderedLinks {
            for settlement in settlements {
                guard let lane = lanes.firstIndex(where: { $0.id == settlement.key.lane }) else { continue }
                link.window.withdrawn(lane: lane, settlement.key.uid)
            }
            forgetIfOver(number)
        }
    }

    /// How an entry is taken back; nil where it has met its end, or is just meeting it.
    private func withdrawal(of uid: UID, lane index: Int) throws(JournalError) -> Settlement.Kind? {
        guard !withdrawing.contains(EntryKey(lane: lanes[index].id, uid: uid)) else { return nil }
        switch try journal.fate(of: uid) {
        case .settled?, .aside?, nil:
            return nil
        case .deferred(let key, until: _, attempts: _, reason: _)?:
            // Its record says whether it may have been sent.
            return key == lanes[index].key ? .withdraw : nil
        case .quarantined(let key, let possiblySent)?:
            guard key == lanes[index].key else { return nil }
            return possiblySent ? .unknown : .withdraw
        case .unconfirmed(let key, attempts: _, possiblySent: _)?:
            guard key == lanes[index].key, let standing = standing(of: uid, lane: index) else { return nil }
            switch standing {
            case .inFlight: return .unknown
            case .suspect(let possiblySentBefore), .waiting(let possiblySentBefore):
                return possiblySentBefore ? .unknown : .withdraw
            }
        }
    }

    /// Its settlement is on disk, or will not come.
    func endWithdrawal(_ work: SettlementWork, _ result: Result<SettlementReport, JournalError>) {
        guard let withdrawal = work.part.withdrawal else { return }
        for settlement in work.part.batch.others { withdrawing.remove(settlement.key) }
        if case .success(let report) = result {
            freePlaces(of: work.part.batch.others)
            tellWithdrawn(Withdrawal(report, asked: withdrawal.asked))
        }
        withdrawal.answer(result)
    }

    /// No turn comes any more: what was left for this one is for the Consumer that has its lanes now.
    func handOver(to successor: Consumer) {
        var left = inbox.withLock { inbox in
            inbox.isOver = true
            defer { inbox = ConsumerInbox(isOver: true) }
            return inbox
        }
        closeUnclaimed(left.connected)
        left.withdrawals = withdrawalsInWaiting + left.withdrawals
        withdrawalsInWaiting = []
        let found = left
        if !successor.post({ $0.takeOver(found) }) { found.refuse(JournalError.engineHasEnded) }
    }

    /// No turn comes any more: tells those who wait for one.
    func refuseOperators() {
        let error = JournalError.engineHasEnded
        let left = inbox.withLock { inbox in
            inbox.isOver = true
            defer { (inbox.orders, inbox.withdrawals, inbox.inquiries, inbox.settled) = ([], [], [], []) }
            return inbox
        }
        left.refuse(error)
        for (_, work, result) in left.settled { work.part.withdrawal?.answer(result) }
        for (_, _, work) in unwritten { work.part.withdrawal?.answer(.failure(error)) }
        for order in withdrawalsInWaiting { order.completion(.failure(error)) }
        withdrawalsInWaiting = []
    }

    // MARK: Where an entry stands

    private enum Standing {
        case inFlight
        case suspect(possiblySentBefore: Bool)
        case waiting(possiblySentBefore: Bool)
    }

    /// Nil for one that is being settled. Of those that the journal has among the unconfirmed.
    private func standing(of uid: UID, lane index: Int) -> Standing? {
        if links.values.contains(where: { $0.isWaitingFor(lane: index, uid) }) { return .inFlight }
        if let suspect = breakers.suspect(uid, lane: index) {
            return .suspect(possiblySentBefore: suspect.flight.possiblySentBefore)
        }
        return lanes[index].waits(uid).map { .waiting(possiblySentBefore: $0) }
    }

    private func insights(_ uids: [UID]) -> [EntryInsight] {
        uids.flatMap { uid in lanes.indices.compactMap { insight(uid, lane: $0) } }
    }

    private func insight(_ uid: UID, lane index: Int) -> EntryInsight? {
        if let link = links.values.first(where: { $0.isWaitingFor(lane: index, uid) }) {
            let since = link.window.timeOut(lane: index, uid).map { clock.wall().advanced(by: .zero - $0) }
            return EntryInsight(uid: uid, standing: .inFlight(since: since))
        }
        if let suspect = breakers.suspect(uid, lane: index) {
            return EntryInsight(uid: uid, standing: .suspect(suspect.result.reason))
        }
        if let possiblySent = lanes[index].goesAgain(uid) {
            return EntryInsight(uid: uid, standing: .requeued(possiblySent: possiblySent))
        }
        if lanes[index].waits(uid) == true { return EntryInsight(uid: uid, standing: .possiblySentBefore) }
        return nil
    }
}
