/// Performs plans, and nothing else decides here: entries back to their lanes, settlements to the journal, tickets back when
/// they are on disk.
final class PlanPerformer {
    private let context: RouteContext
    private let lanes: LaneTable
    private let states: LaneStates
    private let connections: Connections
    private let judge: RouteJudge
    private let shutdown: Shutdown
    /// Settlements with the journal.
    private var beingWritten = 0
    /// Settlements that the journal could not write.
    private var unwritten = Retries<(connection: Int, work: SettlementWork)>()
    /// Plans that ask about entries which could not be read, with the time of the answers.
    private var unread = Retries<(connection: Int, plan: SettlementPlan, answeredAt: WallTime)>()
    /// Errors that deny what silence has confirmed, and whose entries are not being recalled yet.
    private var lateErrors: [LateError] = []

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ states: LaneStates, _ connections: Connections,
        _ judge: RouteJudge, _ shutdown: Shutdown
    ) {
        self.context = context
        self.lanes = lanes
        self.states = states
        self.connections = connections
        self.judge = judge
        self.shutdown = shutdown
    }

    /// Whether all that was decided is on disk, but for what waits for a late error.
    var isIdle: Bool { beingWritten == 0 && unwritten.isEmpty && unread.isEmpty }
    var isWriting: Bool { beingWritten > 0 }
    var hasLateErrors: Bool { !lateErrors.isEmpty }
    var nextLook: Duration? { [unwritten.nextLook, unread.nextLook].compactMap { $0 }.min() }
    var unwrittenWork: [SettlementWork] { unwritten.all.map(\.work) }

    // MARK: Plans

    /// Has the judge weigh what the plan asks about, and performs what is decided then.
    func settle(_ plan: SettlementPlan, connection: Int, at now: Moment) {
        var plan = plan
        let hasSuspects = !plan.suspects.isEmpty
        if plan.asksForEvidence {
            do throws(JournalError) {
                let evidence = try context.settler.evidence(for: plan, lanes: lanes.ids, route: context.name)
                judge.weigh(evidence, for: connection, into: &plan, at: now)
            } catch {
                var rest = SettlementPlan()
                (rest.earliestNow, rest.suspects, rest.refusedTopics) = (
                    plan.earliestNow, plan.suspects, plan.refusedTopics
                )
                (plan.suspects, plan.refusedTopics) = ([], [])
                couldNotRead(rest, connection: connection, error, at: now)
            }
        }
        perform(plan, connection: connection, at: now)
        if hasSuspects { judgeSuspects(at: now) }
    }

    /// Has suspects judged whose time has come.
    func judgeSuspects(at now: Moment) {
        guard !context.ending.hasBegun else { return }
        perform(judge.judgeSuspects(at: now), at: now)
    }

    func perform(_ plans: [(connection: Int, plan: SettlementPlan)], at now: Moment) {
        for (connection, plan) in plans { perform(plan, connection: connection, at: now) }
    }

    /// Requeues entries that are sent again, stops lanes, and has the rest written.
    private func perform(_ plan: SettlementPlan, connection: Int, at now: Moment) {
        for change in plan.laneChanges { states.changed(change) }
        for news in plan.news { context.tell(news) }
        requeue(plan, connection: connection)
        stopLanes(for: plan)
        if plan.holdsRoute { context.holds.settlesPayloadError = true }
        if plan.leaves { connections.leave(connection, now: now.monotonic) }
        if plan.parks {
            context.holds.park(for: context.configuration.park, at: now)
            context.tell(.parked(for: context.configuration.park))
        }
        lateErrors += plan.lateErrors
        if plan.counts != SettlementCounts() {
            context.tell(.settling(plan.counts))
            context.teller.observer.confirmed(plan.confirmed, now: now.wall)
        }
        if let work = context.settler.work(for: plan, wall: now.wall) { write(work, connection: connection) }
        blacklist(for: plan, connection: connection, at: now)
    }

    private func requeue(_ plan: SettlementPlan, connection: Int) {
        for (lane, run) in plan.requeuedRuns { lanes[lane].machine.requeue([run]) }
        guard !plan.requeues.isEmpty else { return }
        var again: [[LaneStateMachine.Again]] = lanes.map { _ in [] }
        for entry in plan.requeues {
            connections[connection]?.flights.window.release(entry.ticket)
            context.spans?.requeued(lanes.key(entry.lane, entry.uid))
            again[entry.lane].append(LaneStateMachine.Again(uid: entry.uid, possiblySent: entry.possiblySent))
        }
        for (lane, entries) in again.enumerated() { lanes[lane].machine.requeue(entries) }
        connections.forgetIfOver(connection)
    }

    private func stopLanes(for plan: SettlementPlan) {
        let all = Array(lanes.indices)
        for stop in plan.stops {
            // Bad credentials are bad for every lane of the route; a bad topic is bad for the lane that met it.
            for index in stop.cause == .credentials ? all : stop.lane.map({ [$0] }) ?? all {
                states.stop(index, stop.message, remedy: .credentials)
            }
        }
        for trip in plan.trips {
            for index in trip.lane.map({ [$0] }) ?? all {
                states.stop(index, trip.message, remedy: trip.lane == nil ? .service : nil)
            }
        }
    }

    /// The blacklist first, then what follows from it. What is bad is the token, and that stands in the entry: if it can't be
    /// read now, it can later.
    private func blacklist(for plan: SettlementPlan, connection: Int, at now: Moment) {
        guard !plan.afterBlacklist.batch.isEmpty else { return }
        do throws(JournalError) {
            let work = try context.settler.workBehindBlacklist(
                for: plan, lanes: lanes.ids, route: context.name, connector: context.connector, wall: now.wall)
            if let work { write(work, connection: connection) }
        } catch {
            var rest = SettlementPlan()
            (rest.blacklist, rest.afterBlacklist) = (plan.blacklist, plan.afterBlacklist)
            couldNotRead(rest, connection: connection, error, at: now)
        }
    }

    private func couldNotRead(_ plan: SettlementPlan, connection: Int, _ error: JournalError, at now: Moment) {
        guard !error.isFatal else { return shutdown.fail(error) }
        context.tell(.failed(.readingTokens, error))
        unread.add((connection, plan, now.wall), due: now.monotonic + context.configuration.settlementRetry)
    }

    // MARK: Writing

    /// Has settlements written; the outcome comes to the inbox.
    func write(_ work: SettlementWork, connection: Int) {
        beingWritten += 1
        let others = work.part.batch.destinations
        for lane in others { context.announceMoves(lane, false) }
        context.settler.perform(work) { [inbox = context.inbox, announce = context.announceMoves] result in
            for lane in others { announce(lane, true) }
            if !inbox.post({ $0.settled.append((connection, work, result)) }) { work.part.withdrawal?.answer(result) }
        }
    }

    /// The journal has said what came of settlements.
    ///
    /// - Parameter finished: of those that were written, and of those that never will be.
    func take(
        _ settled: [(connection: Int, work: SettlementWork, result: Result<SettlementReport, JournalError>)],
        at now: Moment, finished: (SettlementWork, Result<SettlementReport, JournalError>) -> Void
    ) {
        for (connection, work, result) in settled {
            beingWritten -= 1
            switch result {
            case .success(let report):
                finished(work, result)
                context.tell(.settled(report, connection: connection))
                context.spans?.settled(work.part.batch)
                release(work, of: connection)
                // What has ended meanwhile may have been the last that a mark had to cover.
                context.ending.marksAreLowered = false
                if let late = work.part.recalls { takeRecalled(late, report, at: now) }
                for cleared in work.part.cleared {
                    context.tell(
                        .cleared(
                            lanes[cleared.lane].key, count: cleared.count, through: cleared.through,
                            by: cleared.basis))
                }
            case .failure(let error) where error.isFatal:
                finished(work, result)
                shutdown.fail(error)
            case .failure(let error):
                context.tell(.failed(.settling, error))
                unwritten.add((connection, work), due: now.monotonic + context.configuration.settlementRetry)
            }
        }
    }

    /// Retries writes and reads that failed.
    func look(at now: Moment) {
        for (connection, work) in unwritten.takeDue(now.monotonic) { write(work, connection: connection) }
        for (connection, plan, answeredAt) in unread.takeDue(now.monotonic) {
            settle(plan, connection: connection, at: Moment(monotonic: now.monotonic, wall: answeredAt))
        }
    }

    /// Frees places in the windows after a durable settlement.
    private func release(_ work: SettlementWork, of connection: Int) {
        guard let link = connections[connection] else { return }
        for ticket in work.part.tickets {
            guard let flight = link.flights.window.release(ticket) else { continue }
            lanes[flight.lane].machine.settled(flight.uid)
        }
        link.flights.cumulative?.window.settled(work.part.positions)
        connections.forgetIfOver(connection)
    }

    // MARK: Late errors

    /// Has entries recalled, once all that silence has confirmed on their connection lies aside.
    func recallDenied(wall: WallTime) {
        guard !lateErrors.isEmpty else { return }
        let waiting = lateErrors
        lateErrors = []
        for late in waiting {
            guard connections[late.connection]?.flights.cumulative?.window.settling ?? 0 == 0 else {
                lateErrors.append(late)
                continue
            }
            guard late.denied.count > 0 else {
                context.tell(.lateError(recalled: 0, lost: late.lost(recalled: 0)))
                continue
            }
            write(context.settler.recall(late, lanes: lanes.ids, wall: wall), connection: late.connection)
        }
    }

    /// They are unconfirmed on disk. Each is sent again in its order, except for the one that the service has refused.
    private func takeRecalled(_ late: LateError, _ report: SettlementReport, at now: Moment) {
        for run in late.denied.later where !run.hasOneAttempt {
            lanes[run.lane].machine.requeue([RequeuedRuns.Run(run.uids, possiblySent: true)])
        }
        context.tell(.lateError(recalled: report.settled, lost: late.lost(recalled: report.settled)))
        guard let named = late.denied.named, let result = late.result else { return }
        var plan = judge.newPlan(at: now)
        let ticket = connections.none.flights.window.settleUnsent(named)
        judge.decide(about: named, ticket: ticket, by: result, into: &plan, at: now)
        settle(plan, connection: Connections.none, at: now)
    }
}
