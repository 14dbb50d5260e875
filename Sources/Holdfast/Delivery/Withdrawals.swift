/// Withdrawals of entries by operators and applications, and their inquiries about entries.
final class Withdrawals {
    private let context: RouteContext
    private let lanes: LaneTable
    private let connections: Connections
    private let judge: RouteJudge
    private let performer: PlanPerformer
    private let handOuts: HandOuts
    private let quarantines: Quarantines
    /// To be done when what is coming back has come, and what is being settled is on disk.
    private var waiting: [WithdrawalOrder] = []

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge,
        _ performer: PlanPerformer, _ handOuts: HandOuts, _ quarantines: Quarantines
    ) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
        self.performer = performer
        self.handOuts = handOuts
        self.quarantines = quarantines
    }

    /// Looks again at orders that wait, before anything of them can be handed out.
    func lookAgain(at now: Moment) { if !waiting.isEmpty { take([], at: now) } }

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
        /// On their way to their end, or into the deferred.
        var unsettled: [UID] = []
        do throws(JournalError) {
            for uid in Set(order.uids).sorted() {
                switch try decision(about: uid, lane: index) {
                case .settle(let kind): settlements.append(Settlement(lanes.key(index, uid), kind))
                case .wait: unsettled.append(uid)
                case .gone: break
                }
            }
        } catch {
            return order.completion(.failure(error))
        }
        guard let rest = leave(unsettled, of: order) else { return }
        guard !settlements.isEmpty else { return rest.completion(.success(Withdrawal(gone: rest.uids.count))) }
        perform(settlements, for: rest, lane: index, at: now)
    }

    private func decision(about uid: UID, lane index: Int) throws(JournalError) -> WithdrawalRule.Decision {
        // Another order has taken it back, which is not on disk yet.
        guard !handOuts.withdrawing.contains(lanes.key(index, uid)) else { return .wait }
        let decision = WithdrawalRule.decision(for: try context.journal.fate(of: uid), in: lanes[index].key) {
            standing(of: uid, lane: index)
        }
        // Nothing is under way that it could wait for, so nobody has it, and nobody knows whether it was sent.
        if case .wait = decision, isSettled { return .settle(.withdrawSent) }
        return decision
    }

    private var isSettled: Bool { performer.isIdle && !performer.hasLateErrors && quarantines.areDone }

    /// Leaves entries of an order for a later look.
    ///
    /// - Returns: the rest of the order; nil if nothing is left of it.
    private func leave(_ unsettled: [UID], of order: WithdrawalOrder) -> WithdrawalOrder? {
        guard !unsettled.isEmpty else { return order }
        guard unsettled.count < order.uids.count else {
            waiting.append(order)
            return nil
        }
        let split = SplitWithdrawal(order.completion)
        waiting.append(WithdrawalOrder(lane: order.lane, uids: unsettled) { split.answer($0) })
        let later = Set(unsettled)
        return WithdrawalOrder(lane: order.lane, uids: order.uids.filter { !later.contains($0) }) { split.answer($0) }
    }

    private func perform(
        _ settlements: [Settlement], for order: WithdrawalOrder, lane index: Int, at now: Moment
    ) {
        var plan = SettlementPlan()
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

/// The two parts of a withdrawal, which answer as one when both are on disk. From any thread.
private final class SplitWithdrawal: Sendable {
    private let first = Monitor<Result<Withdrawal, JournalError>?>(nil)
    private let completion: @Sendable (Result<Withdrawal, JournalError>) -> Void

    init(_ completion: @escaping @Sendable (Result<Withdrawal, JournalError>) -> Void) { self.completion = completion }

    func answer(_ result: Result<Withdrawal, JournalError>) {
        let other: Result<Withdrawal, JournalError>? = first.withLock { first in
            defer { first = result }
            return first
        }
        guard let other else { return }
        switch (other, result) {
        case (.success(var sum), .success(let part)):
            sum += part
            completion(.success(sum))
        case (.failure(let error), _), (_, .failure(let error)):
            completion(.failure(error))
        }
    }
}
