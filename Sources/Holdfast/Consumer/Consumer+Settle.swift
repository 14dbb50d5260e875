internal import Logging

/// Answers in, plans to the Producer, tickets back when they are on disk.
extension Consumer {
    func takeEvents(_ events: [(connection: Int, event: ConnectorEvent)], now: Duration, wall: WallTime) {
        // The sink works before connect() has returned.
        earlyEvents = events.filter { $0.connection >= nextConnection }
        let events = earlyEvents.isEmpty ? events : events.filter { $0.connection < nextConnection }
        var position = events.startIndex
        while position < events.endIndex {
            let connection = events[position].connection
            var plan = SettlementPlan()
            var isOver: ConnectionEnd?
            while position < events.endIndex, events[position].connection == connection, isOver == nil {
                isOver = take(events[position].event, of: connection, into: &plan, now: now, wall: wall)
                position += 1
            }
            carryOut(plan, connection: connection, now: now, wall: wall)
            if let isOver { connectionEnded(connection, isOver, now: now) }
        }
    }

    /// - Returns: how the connection ended, if this event is its end.
    private func take(
        _ event: ConnectorEvent, of connection: Int, into plan: inout SettlementPlan, now: Duration, wall: WallTime
    ) -> ConnectionEnd? {
        guard let link = links[connection] else { return nil }
        switch event {
        case .confirmed(let tickets):
            link.hasWorked = true
            for ticket in tickets {
                guard let flight = link.window.answer(ticket) else { continue }
                if !unknowns.isEmpty { unknowns[flight.uid] = nil }
                plan.acknowledge(EntryKey(lane: lanes[flight.lane].id, uid: flight.uid), ticket: ticket)
            }
        case .results(let results):
            for (ticket, result) in results { take(result, for: ticket, of: link, into: &plan, wall: wall) }
        case .capacityChanged(let capacity):
            link.capacity = max(capacity, 1)
        case .sent, .payloadError, .barrierAnswered, .listened:
            break
        case .draining:
            leave(connection, now: now)
        case .ended(let end):
            let possiblySent = end.possiblySent.map(Set.init)
            for ticket in link.window.unansweredTickets() {
                guard let flight = link.window.answer(ticket) else { continue }
                plan.addUnanswered(
                    flight, ticket: ticket, lane: lanes[flight.lane].id,
                    possiblySent: possiblySent?.contains(ticket) ?? true, wall: wall)
            }
            return end
        }
        return nil
    }

    private func take(
        _ result: SendResult, for ticket: Ticket, of link: Link, into plan: inout SettlementPlan, wall: WallTime
    ) {
        guard let flight = link.window.answer(ticket) else { return }
        // An answer that asks for another connection is no sign that connecting again at once would help.
        if case .neverProcessed = result.verdict {} else if result.status != nil { link.hasWorked = true }
        let known = unknowns[flight.uid] ?? 0
        plan.add(
            result, for: flight, ticket: ticket, lane: lanes[flight.lane].id, unknowns: known,
            retry: configuration.retry, wall: wall, random: { self.randomUnit() })
        if result.verdict == .unknown, !flight.hasOneAttempt {
            unknowns[flight.uid] = known + 1
        } else {
            unknowns[flight.uid] = nil
        }
    }

    /// A number from 0 up to, not including, 1.
    func randomUnit() -> Double { Double.random(in: 0..<1, using: &random) }

    /// Puts back what goes again, stops what must stop, and has the rest written.
    func carryOut(_ plan: SettlementPlan, connection: Int, now: Duration, wall: WallTime) {
        requeue(plan.requeues, connection: connection, now: now)
        for stop in plan.stops { stopLanes(for: stop.cause, lane: stop.lane, message: stop.message) }
        board.add(plan.counts)
        do throws(JournalError) {
            let works = try producer.work(
                for: plan, lanes: lanes.map(\.id), route: route.name, wall: wall)
            for work in works { write(work, connection: connection) }
        } catch {
            fail(error)
        }
    }

    private func requeue(_ requeues: [SettlementPlan.Requeue], connection: Int, now: Duration) {
        var again: [Int: [LaneStateMachine.Again]] = [:]
        for entry in requeues {
            links[connection]?.window.release(entry.ticket)
            let comeback = LaneStateMachine.Again(uid: entry.uid, possiblySent: entry.possiblySent)
            if let delay = entry.delay {
                delayed.append((now + delay, entry.lane, comeback))
            } else {
                again[entry.lane, default: []].append(comeback)
            }
        }
        for (lane, entries) in again { lanes[lane].requeue(entries) }
    }

    private func stopLanes(for cause: SendResult.StopCause, lane: Int, message: String) {
        // Bad credentials are bad for every lane of the route; a bad topic is bad for the lane that met it.
        let affected = cause == .credentials ? Array(lanes.indices) : [lane]
        for index in affected where lanes[index].isRunning {
            logger.error("lane \(lanes[index].key) is stopped: \(message)")
            lanes[index].stop(message)
        }
    }

    /// Has the Producer write settlements; the outcome comes to the inbox.
    func write(_ work: SettlementWork, connection: Int) {
        beingWritten += 1
        producer.perform(work) { [weak self] result in
            self?.post { $0.settled.append((connection, work, result)) }
        }
    }

    func takeSettled(
        _ settled: [(connection: Int, work: SettlementWork, result: Result<SettlementReport, JournalError>)],
        now: Duration
    ) {
        for (connection, work, result) in settled {
            beingWritten -= 1
            switch result {
            case .success:
                if let link = links[connection] {
                    for ticket in work.part.tickets {
                        if let flight = link.window.release(ticket) { lanes[flight.lane].settled(flight.uid) }
                    }
                    if link.isOver { links[connection] = nil }
                }
                noteDeferred(in: work, now: now)
            case .failure(let error) where Self.isFatal(error):
                fail(error)
            case .failure(let error):
                logger.error("a settlement could not be written and will be tried again: \(error)")
                unwritten.append((now + configuration.settlementRetry, connection, work))
            }
        }
    }

    /// Whether the journal can't recover from this by itself.
    static func isFatal(_ error: JournalError) -> Bool {
        [.closed, .undetermined, .mustBeReopened, .damaged].contains(error.code)
    }

    private func noteDeferred(in work: SettlementWork, now: Duration) {
        var changed: Set<LaneID> = []
        for settlement in work.part.batch.others {
            if case .deferUntil = settlement.kind { changed.insert(settlement.key.lane) }
        }
        for index in lanes.indices where changed.contains(lanes[index].id) { refreshDeferred(index, now: now) }
    }

    /// Learns when the lane's first deferred entry is due.
    func refreshDeferred(_ index: Int, now: Duration) {
        do throws(JournalError) {
            guard let due = try journal.nextDue(lanes[index].id) else {
                deferredDue[index] = nil
                return
            }
            // A clock that stepped back must not strand entries: nothing waits longer than the greatest backoff.
            let greatest = max(configuration.retry.maximum, .seconds(20 * 60))
            let wait = min(max(due.since(clock.wall()), .zero), greatest)
            deferredDue[index] = (now + wait, due)
        } catch {
            if Self.isFatal(error) { fail(error) } else { readAgainAt = now + configuration.settlementRetry }
        }
    }

    func takePromoted(_ promoted: [(lane: Int, result: Result<[UID], JournalError>)], now: Duration) {
        for (lane, result) in promoted {
            promoting.remove(lane)
            switch result {
            case .success(let uids):
                lanes[lane].promoted(uids)
                refreshDeferred(lane, now: now)
            case .failure(let error) where Self.isFatal(error):
                fail(error)
            case .failure(let error):
                logger.error("deferred entries could not be brought back and will be tried again: \(error)")
                deferredDue[lane]?.monotonic = now + configuration.settlementRetry
            }
        }
    }

    func runTimers(now: Duration) {
        if let at = readAgainAt, at <= now { readAgainAt = nil }
        for (_, lane, again) in delayed.filter({ $0.due <= now }) { lanes[lane].requeue([again]) }
        delayed.removeAll { $0.due <= now }

        let due = unwritten.filter { $0.due <= now }
        unwritten.removeAll { $0.due <= now }
        for (_, connection, work) in due where end == nil { write(work, connection: connection) }

        guard case .connected = phase, shutdownDeadline == nil, end == nil else { return }
        for (lane, due) in deferredDue where due.monotonic <= now && canPromote(lane) { promote(lane, due: due.wall) }
    }

    /// Whether deferred entries of the lane may come back now: they wait in memory for their turn, so there is a bound.
    func canPromote(_ lane: Int) -> Bool {
        lanes[lane].isRunning && !promoting.contains(lane) && lanes[lane].againCount < configuration.window
    }

    private func promote(_ lane: Int, due: WallTime) {
        promoting.insert(lane)
        let limit = configuration.window - lanes[lane].againCount
        journal.promoteDue(lanes[lane].id, now: max(clock.wall(), due), limit: limit) { [weak self] result in
            self?.post { $0.promoted.append((lane, result)) }
        }
    }
}
