internal import Logging

/// Plans are carried out: settlements to the journal, tickets back when they are on disk, entries back to their lanes.
extension Consumer {
    /// Puts back what goes again, stops what must stop, and has the rest written.
    func carryOut(_ plan: SettlementPlan, connection: Int, now: Duration, wall: WallTime) {
        requeue(plan.requeues, connection: connection)
        for stop in plan.stops { stopLanes(for: stop.cause, lane: stop.lane, message: stop.message) }
        for trip in plan.trips {
            for index in trip.lane.map({ [$0] }) ?? Array(lanes.indices) {
                stop(index, trip.message, remedy: trip.lane == nil ? .service : nil)
            }
        }
        if plan.parks {
            parkedUntil = now + configuration.park
            parking = EngineStatus.Parking(
                reason: .tooManyProviderTokenUpdates, since: wall, until: wall.advanced(by: configuration.park))
            log(.parked, "the service wants no new provider tokens; nothing is sent for \(configuration.park)")
        }
        board.add(plan.counts)
        observer.settled(plan.counts)
        if let work = settler.work(for: plan, wall: wall) { write(work, connection: connection) }
        carryOutTokens(plan, connection: connection, now: now, wall: wall)
    }

    /// What is bad or suspect is the token, and that stands in the entry: if it can't be read now, it can later.
    private func carryOutTokens(_ plan: SettlementPlan, connection: Int, now: Duration, wall: WallTime) {
        guard !plan.suspects.isEmpty || !plan.refusedTopics.isEmpty || !plan.afterBlacklist.batch.isEmpty else {
            return
        }
        var rest = plan
        do throws(JournalError) {
            try setAside(plan.refusedTopics, connection: connection, now: now, wall: wall)
            rest.refusedTopics = []
            let work = try settler.workBehindBlacklist(
                for: plan, lanes: lanes.map(\.id), route: name, endpoint: connector.serviceIdentity, wall: wall)
            if let work { write(work, connection: connection) }
            rest.afterBlacklist = SettlementPlan.Part()
            try hold(plan.suspects, connection: connection, now: now, wall: wall)
        } catch  where Self.isFatal(error) {
            fail(error)
        } catch {
            log(
                .tokensUnread, "the tokens of answered entries can't be read and will be tried again: \(error)",
                error.metadata)
            unread.append((now + configuration.settlementRetry, connection, rest, wall))
        }
    }

    private func requeue(_ requeues: [SettlementPlan.Requeue], connection: Int) {
        guard !requeues.isEmpty else { return }
        var again: [[LaneStateMachine.Again]] = lanes.map { _ in [] }
        for entry in requeues {
            links[connection]?.window.release(entry.ticket)
            again[entry.lane].append(LaneStateMachine.Again(uid: entry.uid, possiblySent: entry.possiblySent))
        }
        for (lane, entries) in again.enumerated() { lanes[lane].requeue(entries) }
        forgetIfOver(connection)
    }

    /// A connection that has ended goes when nothing of it is in flight any more.
    func forgetIfOver(_ connection: Int) {
        guard connection != Self.noConnection, let link = links[connection], link.isOver else { return }
        links[connection] = nil
    }

    private func stopLanes(for cause: SendResult.StopCause, lane: Int?, message: String) {
        // Bad credentials are bad for every lane of the route; a bad topic is bad for the lane that met it.
        let met = lane.map { [$0] } ?? Array(lanes.indices)
        for index in cause == .credentials ? Array(lanes.indices) : met {
            stop(index, message, remedy: .credentials)
        }
    }

    /// - Parameter remedy: what ends it at once; nil for what a probe or an operator's word ends.
    func stop(_ index: Int, _ message: String, remedy: LaneStateMachine.StopRemedy? = nil) {
        guard lanes[index].isRunning else { return }
        lanes[index].stop(message, remedy: remedy, since: clock.wall())
        beginProbing(index)
        noteState(index)
        events.emit(.laneStopped(lanes[index].key, reason: message))
        laneChanged(index, isLogged: remedy != .connection)
    }

    /// Has settlements written; the outcome comes to the inbox.
    func write(_ work: SettlementWork, connection: Int) {
        beingWritten += 1
        settler.perform(work) { [weak self] result in
            if self?.post({ $0.settled.append((connection, work, result)) }) != true {
                work.part.withdrawal?.answer(result)
            }
        }
    }

    func takeSettled(
        _ settled: [(connection: Int, work: SettlementWork, result: Result<SettlementReport, JournalError>)],
        now: Duration, wall: WallTime
    ) {
        for (connection, work, result) in settled {
            beingWritten -= 1
            switch result {
            case .success(let report):
                endWithdrawal(work, result)
                log(
                    .settled, "\(report.settled) settlements of connection \(connection) are on disk",
                    ["connection": .count(connection), "count": .count(report.settled), "gone": .count(report.gone)])
                release(work, of: connection)
                // What has ended meanwhile may have been the last that a mark had to cover.
                marksAreLowered = false
                noteDeferred(in: work, now: now)
                if let late = work.part.recalls { takeRecalled(late, report, now: now, wall: wall) }
                for cleared in work.part.cleared {
                    let key = lanes[cleared.lane].key
                    tellCleared(cleared)
                    events.emit(
                        .cleared(key, count: cleared.count, through: cleared.through, by: cleared.basis))
                }
            case .failure(let error) where Self.isFatal(error):
                endWithdrawal(work, result)
                fail(error)
            case .failure(let error):
                log(
                    .settlementFailed, "a settlement could not be written and will be tried again: \(error)",
                    error.metadata)
                unwritten.append((now + configuration.settlementRetry, connection, work))
            }
        }
        recallDenied(wall: wall)
        endPayloadErrorHold()
    }

    /// What follows from a payload error is on disk, or there was nothing to write.
    func endPayloadErrorHold() {
        guard beingWritten == 0, unwritten.isEmpty, unmoved.isEmpty, unread.isEmpty, lateErrors.isEmpty else { return }
        settlesPayloadError = false
    }

    /// What a settlement on disk frees in the windows.
    private func release(_ work: SettlementWork, of connection: Int) {
        guard let link = links[connection] else { return }
        for ticket in work.part.tickets {
            guard let flight = link.window.release(ticket) else { continue }
            lanes[flight.lane].settled(flight.uid)
        }
        link.cumulative?.window.settled(work.part.positions)
        forgetIfOver(connection)
    }

    /// Whether the journal can't recover from this by itself.
    static func isFatal(_ error: JournalError) -> Bool {
        [.closed, .undetermined, .mustBeReopened, .damaged].contains(error.code)
    }

    // MARK: Deferred entries

    private func noteDeferred(in work: SettlementWork, now: Duration) {
        var changed: Set<LaneID> = []
        for settlement in work.part.batch.others {
            guard case .deferUntil(let due, attempts: _, reason: _, possiblySent: _) = settlement.kind else { continue }
            changed.insert(settlement.key.lane)
            if due.isPlaceOfTopic, let index = lanes.firstIndex(where: { $0.id == settlement.key.lane }) {
                topicHold.waits(until: due, lane: index)
            }
        }
        for index in lanes.indices where changed.contains(lanes[index].id) { refreshDeferred(index, now: now) }
    }

    /// Learns when the lane's first deferred entry is due.
    ///
    /// - Returns: whether any is deferred, as far as it can be read.
    @discardableResult
    func refreshDeferred(_ index: Int, now: Duration) -> Bool {
        do throws(JournalError) {
            guard let due = try journal.nextDue(lanes[index].id) else {
                deferredDue[index] = nil
                return false
            }
            guard !due.isPlaceOfTopic else {
                deferredDue[index] = nil
                topicHold.found(lane: index)
                return true
            }
            let wait = max(due.since(clock.wall()), .zero)
            deferredDue[index] = (now + min(wait, greatestWait), due)
        } catch {
            guard !Self.isFatal(error) else {
                fail(error)
                return false
            }
            // Something is deferred, so it is looked for again, whatever was known of it.
            deferredDue[index] = (now + configuration.settlementRetry, WallTime(milliseconds: .min))
        }
        return true
    }

    /// The longest that a deferred entry waits for its turn.
    var greatestWait: Duration { max(configuration.retry.maximum, WallClockGuard.distrust) }

    func takePromoted(
        _ promoted: [(lane: Int, isStranded: Bool, result: Result<[UID], JournalError>)], now: Duration
    ) {
        for (lane, isStranded, result) in promoted {
            lanes[lane].endPromotion()
            hasPromoted.insert(lane)
            let call = topicCalls.removeValue(forKey: lane)
            let clockCall = clockCalls.removeValue(forKey: lane)
            switch result {
            case .success(let uids):
                // There may be more of them than came back at once.
                if isStranded { lookedForStranded(lane, found: uids.count, now: now) }
                tellPromoted(uids, lane: lane)
                lanes[lane].promoted(uids)
                if caution.hasSuspects { caution.returned(uids.map { EntryKey(lane: lanes[lane].id, uid: $0) }) }
                if lanes[lane].key.guarantee == .atMostOnce { share.charge(uids.count, to: lane) }
                if let clockCall { clockHold.called(clockCall, lane: lane, count: uids.count) }
                if let call { topicHold.called(call, lane: lane, count: uids.count) }
                refreshDeferred(lane, now: now)
            case .failure(let error) where Self.isFatal(error):
                fail(error)
            case .failure(let error):
                log(
                    .promotionFailed, "deferred entries could not be brought back and will be tried again: \(error)",
                    error.metadata)
                deferredDue[lane]?.monotonic = now + configuration.settlementRetry
            }
        }
    }

    /// Whether deferred entries of the lane may come back now: they wait in memory for their turn, so there is a bound. For
    /// a lane with one attempt they come only when they can go out at once, since a crash would make them unknown.
    func canPromote(_ lane: Int) -> Bool {
        lanes[lane].handsOut && !lanes[lane].isPromoting && !triesNew(lane) && promotionLimit(lane) > 0
    }

    /// Whether the next probe of a stopped lane is an entry that was never handed out: in turn with those that were, so that
    /// a few that are refused for their own sake do not take all probes.
    private func triesNew(_ lane: Int) -> Bool {
        lanes[lane].isStopped && probes[lane].failures % 2 == 1 && lanes[lane].hasForwardWork
    }

    func promotionLimit(_ lane: Int) -> Int {
        let again = againCount(in: lane)
        let known = throttle.isThrottling && lanes[lane].hasForwardWork ? throttle.roomForKnown : .max
        let limit = min((lanes[lane].isRunning ? configuration.window : 1) - again, known)
        guard lanes[lane].key.guarantee == .atMostOnce, !pool.active.isEmpty else { return limit }
        return min(limit, promotionPlaces(lane))
    }

    /// Whether outcomes leave room for what comes back in the lane. If not, the route is told when they do.
    func hasRoomForOutcomes(ofPromotionIn lane: Int) -> Bool {
        lanes[lane].key.guarantee == .atLeastOnce
            || gate.hasRoom(route: index, inFlight: inFlight + keptPlaces(), waiting: journal.outcomeCount)
    }

    /// Has the journal bring back what is due above `after` and up to `through`.
    ///
    /// - Parameter isStranded: whether it is what a clock that was ahead has left.
    /// - Returns: whether that has begun. For a lane with one attempt there may be no room for the outcomes.
    @discardableResult
    func promote(
        _ lane: Int, after: WallTime? = nil, through: WallTime, limit greatest: Int = .max, isStranded: Bool = false
    ) -> Bool {
        var limit = min(promotionLimit(lane), greatest)
        if lanes[lane].key.guarantee == .atMostOnce {
            // What comes back keeps its places, so each must have room for its outcome.
            limit = gate.reserve(
                limit, route: index, inFlight: inFlight + keptPlaces(), waiting: journal.outcomeCount)
            guard limit > 0 else {
                if keptPlaces() == 0 { outcomesAreFull = true }
                return false
            }
        }
        lanes[lane].beginPromotion(places: limit)
        throttle.callBack(limit)
        journal.promoteDue(lanes[lane].id, after: after, now: through, limit: limit) { [weak self] result in
            self?.post { $0.promoted.append((lane, isStranded, result)) }
        }
        return true
    }

    /// A clock that was ahead has left due times that no backoff makes, each of its own. From time to time whatever is due
    /// later than the longest wait from now is brought back.
    private func promoteStranded(but later: Set<Int>, now: Duration) {
        for lane in lanes.indices where looksForStranded(lane, now: now) && !later.contains(lane) {
            // Beyond that lie the places of topics.
            let last = WallTime(milliseconds: TopicHold.firstDue.milliseconds - 1)
            // What is held for the clock waits beyond it too, and would come and go again and again.
            let (after, through) =
                switch clockHold.due {
                case nil: (latestDue, last)
                case let held? where strandedAbove.contains(lane): (max(latestDue, held), last)
                case let held?: (latestDue, max(latestDue, WallTime(milliseconds: held.milliseconds - 1)))
                }
            if promote(lane, after: after, through: through, isStranded: true) {
                strandedLookAt[lane] = now + greatestWait
            }
        }
    }

    /// There may be more of them than came back at once, and more behind what is held for the clock.
    private func lookedForStranded(_ lane: Int, found: Int, now: Duration) {
        let isThrough = found == 0 && (clockHold.due == nil || strandedAbove.contains(lane))
        if !isThrough { strandedLookAt[lane] = now }
        if isThrough { strandedAbove.remove(lane) } else if found == 0 { strandedAbove.insert(lane) }
    }

    /// No backoff of now is due later. A clock that was set back by a little is believed, and strands nothing.
    private var latestDue: WallTime {
        clock.wall().advanced(by: greatestWait + WallClockGuard.tolerance)
    }

    private func looksForStranded(_ lane: Int, now: Duration) -> Bool {
        deferredDue[lane] != nil && strandedLookAt[lane] <= now && canPromote(lane)
    }

    /// Whether all that is deferred in some lane is stranded, and to be brought back now.
    func strandedWantConnection(now: Duration) -> Bool {
        lanes.indices.contains { lane in
            guard let due = deferredDue[lane], due.wall > latestDue else { return false }
            return strandedLookAt[lane] <= now && mayPromoteOnceConnected(lane)
        }
    }

    // MARK: Timers

    func runTimers(now: Duration, wall: WallTime) {
        if let at = readAgainAt, at <= now { readAgainAt = nil }
        if let until = parkedUntil, until <= now { parkedUntil = nil }
        for link in links.values { if let until = link.pausedUntil, until <= now { link.pausedUntil = nil } }
        if let at = retreatAgainAt, at <= now { retreatAgainAt = nil }
        if outcomesAreFull {
            outcomesAreFull = !gate.hasRoom(
                route: index, inFlight: inFlight + keptPlaces(), waiting: journal.outcomeCount)
        }
        let due = unwritten.filter { $0.due <= now }
        unwritten.removeAll { $0.due <= now }
        for (_, connection, work) in due { write(work, connection: connection) }
        retryQuarantines(now: now)
        let readable = unread.filter { $0.due <= now }
        unread.removeAll { $0.due <= now }
        for (_, connection, plan, answeredAt) in readable {
            carryOutTokens(plan, connection: connection, now: now, wall: answeredAt)
        }
        runCumulativeTimers(now: now, wall: wall)
        guard shutdownDeadline == nil else { return }
        judgeSuspects(now: now, wall: wall)
        runProbes(now: now, wall: wall)
        takeCensuses(now: now)
        topicHold.look(configuration.probes, now: now, wall: wall, random: randomUnit())
        let reading = clockReading
        if let bounds = housekeeping.due(now: now, wall: reading.earliest, isTrusted: reading.isTrusted) {
            trim(bounds)
        }
        guard !pool.active.isEmpty, holdReason == nil, end == nil else { return }
        promoteDue(now: now)
    }

    /// Brings deferred entries back that are due. Once before the hand-outs of a turn; for lanes whose last promotion has
    /// just ended, after them: promotions that follow each other without a gap would hold up what is ahead of the reading.
    func promoteDue(now: Duration) {
        let later = hasPromoted
        hasPromoted = []
        guard !pool.active.isEmpty, holdReason == nil, end == nil else { return }
        // First, as seldom as that is: what is due again and again would take the only place each time.
        promoteStranded(but: later, now: now)
        // In turn with what is called back, which would otherwise wait for ever for the only place beside it.
        callBack { haveHadDue.contains($0) && !later.contains($0) }
        for lane in lanes.indices where !later.contains(lane) {
            guard let due = deferredDue[lane], due.monotonic <= now, canPromote(lane) else { continue }
            if promote(lane, through: max(clock.wall(), due.wall)) { haveHadDue.insert(lane) }
        }
        callBack { !later.contains($0) }
    }

    /// Brings back what has waited for the clock, or for its topic.
    private func callBack(in isTurn: (Int) -> Bool) {
        callBackForClock(in: isTurn)
        callBackForTopics(in: isTurn)
    }

    private func trim(_ bounds: TrimBounds) {
        journal.trim(bounds) { [weak self, log] result in
            switch result {
            case .success(let trimmed) where trimmed.rejections > 0:
                log(
                    .rejectionsTrimmed, "\(trimmed.rejections) rejections were too old or too many, and are deleted",
                    ["count": .count(trimmed.rejections)])
            case .success: break
            case .failure(let error):
                log(
                    .trimFailed, "old rejections and ids could not be deleted, and will be tried again: \(error)",
                    error.metadata)
            }
            self?.post { $0.trimmed = true }
        }
    }
}
