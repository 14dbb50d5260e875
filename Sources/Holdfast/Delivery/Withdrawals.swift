/// Withdrawals of entries by operators and applications, and their inquiries about entries.
final class Withdrawals {
    private let context: RouteContext
    private let lanes: LaneTable
    private let connections: Connections
    private let judge: RouteJudge
    private let performer: PlanPerformer
    private let handOuts: HandOuts
    /// To be done when what is coming back has come.
    private var waiting: [WithdrawalOrder] = []

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge,
        _ performer: PlanPerformer, _ handOuts: HandOuts
    ) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
        self.performer = performer
        self.handOuts = handOuts
    }

    func take(_ orders: [WithdrawalOrder], at now: Moment) {
        for order in takeWaiting() + orders {
            guard let index = lanes.index(of: order.lane) else { continue }
            if lanes[index].machine.isPromoting {
                // What is coming back may be among the entries already, and this side does not know of it yet.
                waiting.append(order)
            } else {
                withdraw(order, lane: index, at: now)
            }
        }
    }

    /// Orders that wait, which are another's from now on.
    func takeWaiting() -> [WithdrawalOrder] {
        defer { waiting = [] }
        return waiting
    }

    private func withdraw(_ order: WithdrawalOrder, lane index: Int, at now: Moment) {
        var settlements: [Settlement] = []
        var plan = SettlementPlan()
        do throws(JournalError) {
            for uid in Set(order.uids).sorted() where !handOuts.withdrawing.contains(lanes.key(index, uid)) {
                let kind = WithdrawalRule.kind(for: try context.journal.fate(of: uid), in: lanes[index].key) {
                    standing(of: uid, lane: index)
                }
                if let kind { settlements.append(Settlement(lanes.key(index, uid), kind)) }
            }
        } catch {
            return order.completion(.failure(error))
        }
        guard !settlements.isEmpty else { return order.completion(.success(Withdrawal(gone: order.uids.count))) }
        note(settlements.map(\.key.uid), lane: index)
        // All are looked at before any is changed: a read that fails leaves everything as it was.
        for settlement in settlements {
            if case .withdrawSent = settlement.kind {
                plan.details[settlement.key.uid] = detail(of: settlement.key.uid, lane: index)
            }
            disown(settlement.key, lane: index, at: now)
        }
        plan.now.batch.others = settlements
        plan.now.withdrawal = SettlementPlan.Withdrawal(asked: order.uids.count, completion: order.completion)
        performer.settle(plan, connection: Connections.none, at: now)
    }

    /// Traces are in the records, which are about to go.
    private func note(_ uids: [UID], lane index: Int) {
        guard let spans = context.spans else { return }
        // A span that is missed for a record that can't be read is no harm.
        guard let batch = try? context.journal.unconfirmed(lanes[index].id, uids: uids) else { return }
        spans.note(batch, of: lanes[index].id)
    }

    /// When the attempt began that is taken back; nil for one that is not in flight.
    private func detail(of uid: UID, lane index: Int) -> SettlementDetail? {
        for link in connections.links.values {
            guard let out = link.flights.window.timeOut(lane: index, uid) else { continue }
            return SettlementDetail(sentAgo: SentAgo(milliseconds: UInt32(clamping: out.wholeMilliseconds)))
        }
        return nil
    }

    /// Its answer counts no more.
    private func disown(_ key: EntryKey, lane index: Int, at now: Moment) {
        handOuts.withdrawing.insert(key)
        for link in connections.links.values {
            link.flights.window.disown(lane: index, key.uid)
            if link.flights.cumulative?.window.isUnconfirmed(lane: index, key.uid) == true {
                link.flights.cumulative!.withdrawn.insert(key)
            }
        }
        judge.releaseSuspect(key.uid, at: now)
    }

    /// A withdrawal's settlement is on disk, or will not come.
    func finish(_ work: SettlementWork, _ result: Result<SettlementReport, JournalError>) {
        guard let withdrawal = work.part.withdrawal else { return }
        for settlement in work.part.batch.others { handOuts.withdrawing.remove(settlement.key) }
        if case .success(let report) = result {
            freePlaces(of: work.part.batch.others)
            let done = Withdrawal(report, asked: withdrawal.asked)
            if done.withdrawn + done.unknown > 0 { context.tell(.withdrawn(done)) }
        }
        withdrawal.answer(result)
    }

    private func freePlaces(of settlements: [Settlement]) {
        for index in lanes.indices {
            lanes[index].machine.takenBack(
                settlements.lazy.filter { [id = lanes[index].id] in $0.key.lane == id }.map(\.key.uid))
        }
        for (number, link) in connections.ordered {
            for settlement in settlements {
                guard let lane = lanes.index(of: settlement.key.lane) else { continue }
                link.flights.window.withdrawn(lane: lane, settlement.key.uid)
            }
            connections.forgetIfOver(number)
        }
    }

    // MARK: Where an entry stands

    /// Nil for one that is being settled. Of those that the journal has among the unconfirmed.
    private func standing(of uid: UID, lane index: Int) -> WithdrawalRule.Standing? {
        if connections.isOut(lane: index, uid) { return .inFlight }
        if let suspect = judge.breakers.suspect(uid, lane: index) {
            return .suspect(possiblySentBefore: suspect.flight.possiblySentBefore)
        }
        return lanes[index].machine.waits(uid).map { .waiting(possiblySentBefore: $0) }
    }

    /// The state of entries that is known here, and not in the journal.
    func insights(_ uids: [UID]) -> [EntryInsight] {
        uids.flatMap { uid in lanes.indices.compactMap { insight(uid, lane: $0) } }
    }

    private func insight(_ uid: UID, lane index: Int) -> EntryInsight? {
        if let link = connections.links.values.first(where: { $0.flights.isWaitingFor(lane: index, uid) }) {
            let since = link.flights.window.timeOut(lane: index, uid).map {
                context.clock.wall().advanced(by: .zero - $0)
            }
            return EntryInsight(uid: uid, standing: .inFlight(since: since))
        }
        if let suspect = judge.breakers.suspect(uid, lane: index) {
            return EntryInsight(uid: uid, standing: .suspect(suspect.result.reason))
        }
        if let possiblySent = lanes[index].machine.goesAgain(uid) {
            // An attempt before the last one may be noted in its record alone. One that can't be read is told by others.
            let batch = try? context.journal.unconfirmed(lanes[index].id, uids: [uid])
            let isNoted = batch?.items.first?.isPossiblySent == true
            return EntryInsight(uid: uid, standing: .requeued(possiblySent: possiblySent || isNoted))
        }
        return lanes[index].machine.waits(uid) == true ? EntryInsight(uid: uid, standing: .possiblySentBefore) : nil
    }
}
