/// Lowers send marks to the last hand-out while nothing can be sent.
///
/// In an at-most-once lane, a crash would make unsent entries *unknown*: those between the last hand-out and the mark, and
/// those that wait to be sent again. So its mark is lowered, and the waiting entries are deferred.
final class Marks {
    private let context: RouteContext
    private let lanes: LaneTable
    private let connections: Connections
    private let judge: RouteJudge
    private let performer: PlanPerformer
    private let quarantines: Quarantines
    private let shutdown: Shutdown
    /// Not before this are marks set back, after one that could not be.
    private var tryAgainAt: Duration?

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge,
        _ performer: PlanPerformer, _ quarantines: Quarantines, _ shutdown: Shutdown
    ) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
        self.performer = performer
        self.quarantines = quarantines
        self.shutdown = shutdown
    }

    var nextLook: Duration? { tryAgainAt }

    func look(now: Duration) { if let at = tryAgainAt, at <= now { tryAgainAt = nil } }

    /// Sets back the marks of lanes that hand out nothing now.
    func retreat(at now: Moment) {
        let canHandOut = canHandOut
        for index in lanes.indices {
            let lane = lanes[index]
            if lane.machine.isPaused, !lane.hasOneAttempt { lower(index) }
            // What an earlier process may have sent keeps the mark of any lane where it is: what waits below it, and was
            // not sent, would be taken for sent after an orderly end too.
            guard lane.hasOneAttempt || context.ending.hasBegun && lane.machine.mustKeepMark else { continue }
            if canHandOut && lane.handsOut { continue }
            deferAgain(index, at: now)
            lower(index)
        }
    }

    private var canHandOut: Bool {
        connections.pool.active.contains { connections[$0]?.pausedUntil == nil } && !context.holds.isParked
            && !context.holds.outcomesAreFull && !context.ending.hasBegun && !judge.throttle.isPaused && context.isOwner
    }

    private func lower(_ index: Int) {
        guard tryAgainAt == nil, let mark = lanes[index].machine.retreat() else { return }
        lower(index, to: mark)
    }

    /// Nothing is in flight: the marks, which ran ahead, go back to what may really have been sent. So an orderly restart
    /// calls nothing a possible duplicate that is none, and nothing unknown that never left.
    func lowerToRest() {
        context.ending.marksAreLowered = true
        for index in lanes.indices {
            if let mark = lanes[index].machine.retreatToRest() { lower(index, to: mark) }
        }
    }

    private func lower(_ index: Int, to mark: UID) {
        context.journal.lowerMark(of: lanes[index].id, to: mark) { [inbox = context.inbox] result in
            inbox.post { $0.marksLowered.append((index, result)) }
        }
    }

    /// The journal has set marks back, or could not.
    func take(_ lowered: [(lane: Int, result: Result<Void, JournalError>)], now: Duration) {
        for (lane, result) in lowered {
            switch result {
            case .success: lanes[lane].machine.markLowered()
            case .failure(let error):
                context.tell(.failed(.loweringMark, error))
                lanes[lane].machine.markLowered(false)
                tryAgainAt = now + context.configuration.settlementRetry
            }
        }
    }

    /// Defers the lane's entries that wait to be sent again, due at once.
    private func deferAgain(_ index: Int, at now: Moment) {
        guard lanes[index].machine.againCount > 0, context.holds.readAgainAt == nil else { return }
        let again = lanes[index].machine.takeAllAgain(limit: 1000)
        let batch: EntryBatch
        do throws(JournalError) {
            batch = try context.journal.unconfirmed(lanes[index].id, uids: again.map(\.uid))
        } catch {
            lanes[index].machine.requeue(again)
            return shutdown.readFailed(error, now: now.monotonic)
        }
        var plan = SettlementPlan()
        let possiblySent = Set(again.lazy.filter(\.possiblySent).map(\.uid))
        var unreadable = batch.unreadable
        for position in batch.items.indices {
            let item = batch.items[position]
            do throws(PackedNotification.Damage) {
                let fields = try batch.fields(at: position)
                let flight = SentWindow.Flight(
                    item, fields, lane: index, hasOneAttempt: lanes[index].hasOneAttempt,
                    possiblySent: possiblySent.contains(item.uid))
                let ticket = connections.none.flights.window.settleUnsent(flight)
                plan.wait(flight, ticket: ticket, lane: lanes[index].id, until: now.wall, reason: .neverProcessed)
            } catch {
                unreadable.append(UnreadableEntry(uid: item.uid, fault: RecordFault(error)))
            }
        }
        quarantines.order(unreadable, of: index, wall: now.wall) { possiblySent.contains($0) }
        performer.settle(plan, connection: Connections.none, at: now)
    }
}
