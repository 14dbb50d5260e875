internal import Logging

/// From the journal to the connection, as far as the window has room.
extension Consumer {
    func handOut(now: Duration, wall: WallTime) {
        guard !pool.active.isEmpty, holdReason == nil else { return }
        for index in lanes.indices {
            guard let ceiling = lanes[index].raiseAhead() else { continue }
            journal.raiseMark(of: lanes[index].id, to: ceiling)
        }
        do throws(JournalError) {
            // The more urgent lanes first; what they leave is for the others.
            for index in lanes.indices {
                while holdReason == nil, end == nil, let (number, link) = roomiest(),
                    try handOutSome(of: index, on: number, link, now: now, wall: wall)
                {}
            }
        } catch {
            readFailed(error, now: now)
        }
    }

    /// How many more entries the connection takes, whatever the others have.
    func room(of link: Link) -> Int { min(link.capacity - link.load, linkWindowLimit - link.count) }

    /// The connection with the most room, and room that is worth a read of the journal.
    private func roomiest() -> (number: Int, link: Link)? {
        let left = windowLimit - inFlight
        guard left > 0 else { return nil }
        var best: (number: Int, link: Link, room: Int)?
        for number in pool.active {
            guard let link = links[number], link.connection != nil, link.pausedUntil == nil else { continue }
            let room = min(left, room(of: link))
            let worthwhile = min(linkWindowLimit, link.capacity, 8000) / 8
            guard room > worthwhile || link.count == 0, room > best?.room ?? 0 else { continue }
            best = (number, link, room)
        }
        return best.map { ($0.number, $0.link) }
    }

    /// Whether more could go out at once if there were more connections.
    var lacksConnections: Bool {
        holdReason == nil && inFlight < windowLimit && roomiest() == nil
            && pool.active.allSatisfy { links[$0]?.pausedUntil == nil }
            && lanes.contains { $0.handsOut && $0.hasWork } && !isSlowedDown
    }

    private var isRateUsedUp: Bool {
        guard var rate else { return false }
        return rate.allowance(now: clock.monotonic()) == 0
    }

    /// Whether there is more to send than the route's rate, or its service, allows now.
    var isSlowedDown: Bool {
        guard throttle.isThrottling || isRateUsedUp else { return false }
        return lanes.contains { $0.handsOut && $0.hasWork }
    }

    /// How many entries the connection is given next.
    private func grant(_ link: Link, now: Duration) -> Int {
        var wanted = min(windowLimit - inFlight, room(of: link), 1000)
        if let allowance = rate?.allowance(now: now) { wanted = min(wanted, allowance) }
        if wanted > 0 { wanted = min(wanted, throttle.allowance(inFlight: inFlight, now: now)) }
        guard wanted > 0 else { return 0 }
        let granted = gate.reserve(wanted, route: index, inFlight: inFlight, waiting: journal.outcomeCount)
        // Until there is room again, as each turn looks, nothing is asked for: see runTimers.
        if granted == 0 { outcomesAreFull = true }
        return granted
    }

    /// - Returns: whether it is worth asking again for the same lane.
    private func handOutSome(
        of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime
    ) throws(JournalError) -> Bool {
        let lane = lanes[index]
        guard lane.handsOut, lane.hasWork else { return false }
        let room = min(grant(link, now: now), lane.isRunning ? .max : 1)
        switch lane.nextStep(limit: room) {
        case .none:
            return false
        case .peek(let after):
            return try peek(index, after: after, limit: lane.key.guarantee == .atLeastOnce ? 1 : room)
        case .readAgain(let again):
            let covered = lane.covered(again)
            guard covered > 0 else { return raise(index, through: again[again.count - 1].uid) }
            let taken = Array(again.prefix(covered))
            let batch = try journal.unconfirmed(lane.id, uids: taken.map(\.uid))
            let possiblySent = Set(taken.lazy.filter(\.possiblySent).map(\.uid))
            lanes[index].takeAgain(taken)
            quarantine(batch.unreadable, of: index, wall: wall) { possiblySent.contains($0) }
            give(batch, of: index, on: number, link, now: now, wall: wall) { possiblySent.contains($0) }
            return true
        case .read(let after, let through):
            let batch = try journal.unconfirmed(lane.id, after: after, through: through, limit: room)
            lanes[index].advance(to: batch.lastUID ?? through)
            let markAtOpen = lane.markAtOpen
            quarantine(batch.unreadable, of: index, wall: wall) { $0 <= markAtOpen }
            let fresh = batch.removing(lanes[index].passOver(in: batch))
            give(fresh, of: index, on: number, link, now: now, wall: wall) { $0 <= markAtOpen }
            return true
        }
    }

    /// Looks how far the mark must rise for the next entries.
    private func peek(_ index: Int, after: UID, limit: Int) throws(JournalError) -> Bool {
        let batch = try journal.unconfirmed(lanes[index].id, after: after, through: .max, limit: limit)
        guard let last = batch.lastUID else {
            lanes[index].advance(to: lanes[index].lastUID)
            return false
        }
        return raise(index, through: last)
    }

    /// - Returns: false: what is wanted goes out when the mark's commit has been reported.
    private func raise(_ index: Int, through uid: UID) -> Bool {
        if let ceiling = lanes[index].raise(through: uid) { journal.raiseMark(of: lanes[index].id, to: ceiling) }
        return false
    }

    /// Hands a batch to the connection, but for entries that must not go: those are settled instead.
    private func give(
        _ batch: EntryBatch, of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime,
        possiblySent: (UID) -> Bool
    ) {
        var batch = atLastDoor(batch.removing(withdrawn(in: batch, lane: index)), of: index)
        guard !batch.isEmpty else { return }
        let examined: Examined
        do {
            examined = try examineReadable(&batch, lane: index, wall: wall, possiblySent: possiblySent)
        } catch {
            // Back into the lane, unharmed: nothing of it went out.
            lanes[index].requeue(
                batch.items.map { item in
                    LaneStateMachine.Again(
                        uid: item.uid, possiblySent: item.isPossiblySent || possiblySent(item.uid))
                })
            return readFailed(error, now: now)
        }
        let flights = examined.flights
        var plan = SettlementPlan()
        for (position, obstacle) in examined.obstacles {
            withhold(flights[position], because: obstacle, on: link, wall: wall, plan: &plan)
        }
        let withheld = examined.obstacles.map(\.position)
        let entries = batch.removing(withheld)
        var tickets: [Ticket] = []
        tickets.reserveCapacity(entries.count)
        var next = withheld.startIndex
        for position in flights.indices {
            if next < withheld.endIndex, withheld[next] == position {
                next += 1
                continue
            }
            if flights[position].possiblySentBefore { plan.now.batch.possibleDuplicates += 1 }
            tickets.append(link.handOut(flights[position]))
        }
        noteProbe(entries, of: index, on: number, now: now)
        if let last = entries.items.last { lanes[index].handedOut(through: last.uid) }
        rate?.take(tickets.count)
        throttle.take(tickets.count)
        board.handedOut(entries.count, possibleDuplicates: plan.now.batch.possibleDuplicates)
        tellHandedOut(entries, of: index, on: number, possibleDuplicates: plan.now.batch.possibleDuplicates)
        if !entries.isEmpty { link.connection?.send(HandOut(entries: entries, tickets: tickets)) }
        carryOut(plan, connection: number, now: now, wall: wall)
    }

    /// The indices, ascending, of what an operator has taken back.
    private func withdrawn(in batch: EntryBatch, lane index: Int) -> [Int] {
        guard !withdrawing.isEmpty else { return [] }
        let id = lanes[index].id
        return batch.items.indices.filter { withdrawing.contains(EntryKey(lane: id, uid: batch.items[$0].uid)) }
    }

    /// A batch that was looked through, before anything is done about it.
    private struct Examined {
        var flights: [SentWindow.Flight] = []
        /// In ascending order.
        var obstacles: [(position: Int, obstacle: Obstacle)] = []
    }

    /// Examines a batch, and has moved aside what of it turns out to be unreadable.
    private func examineReadable(
        _ batch: inout EntryBatch, lane index: Int, wall: WallTime, possiblySent: (UID) -> Bool
    ) throws -> Examined {
        while true {
            do {
                return try examine(batch, lane: index, wall: wall, possiblySent: possiblySent)
            } catch let found as UnreadablePosition {
                let item = batch.items[found.position]
                quarantine([UnreadableEntry(uid: item.uid, fault: found.fault)], of: index, wall: wall) {
                    item.isPossiblySent || possiblySent($0)
                }
                batch = batch.removing([found.position])
            }
        }
    }

    private func examine(
        _ batch: EntryBatch, lane index: Int, wall: WallTime, possiblySent: (UID) -> Bool
    ) throws -> Examined {
        var blacklisted: [Int: BlacklistEntry] = [:]
        if producer.blacklist.count > 0 {
            for (position, entry) in try producer.blacklist.storage.entries(for: batch) {
                blacklisted[position] = entry
            }
        }
        var examined = Examined()
        examined.flights.reserveCapacity(batch.count)
        for position in batch.items.indices {
            let fields = try readableFields(of: batch, at: position)
            let flight = flight(of: batch.items[position], fields, lane: index, possiblySent: possiblySent)
            examined.flights.append(flight)
            var obstacle = obstacle(
                to: flight, fields, token: { fields.recipient(in: batch.bytes).token },
                blacklisted[position], wall: wall)
            if obstacle == nil, try isSuperseded(flight.uid, fields, batch) { obstacle = .superseded }
            if let obstacle { examined.obstacles.append((position, obstacle)) }
        }
        return examined
    }

    private func readableFields(
        of batch: EntryBatch, at position: Int
    ) throws(UnreadablePosition) -> PackedNotification.Fields {
        do throws(PackedNotification.Damage) {
            return try batch.fields(at: position)
        } catch {
            throw UnreadablePosition(position: position, fault: RecordFault(error))
        }
    }

    private func flight(
        of item: EntryBatch.Item, _ fields: PackedNotification.Fields, lane index: Int, possiblySent: (UID) -> Bool
    ) -> SentWindow.Flight {
        SentWindow.Flight(
            lane: index, uid: item.uid, attempts: item.attempts,
            possiblySentBefore: item.isPossiblySent || possiblySent(item.uid),
            hasOneAttempt: lanes[index].key.guarantee == .atMostOnce, isBroadcast: fields.isBroadcast,
            acceptedAt: fields.acceptedAt)
    }

    /// Settles an entry that must not go out.
    private func withhold(
        _ flight: SentWindow.Flight, because obstacle: Obstacle, on link: Link, wall: WallTime,
        plan: inout SettlementPlan
    ) {
        let ticket = link.window.settleUnsent(flight)
        let lane = lanes[flight.lane].id
        let key = EntryKey(lane: lane, uid: flight.uid)
        switch obstacle {
        case .hadItsAttempt: plan.giveUpAsUnknown(key, ticket: ticket)
        case .expired: plan.expire(key, ticket: ticket, possiblySent: flight.possiblySentBefore)
        case .blacklisted:
            plan.reject(key, ticket: ticket, reason: .blacklisted, possiblySent: flight.possiblySentBefore, wall: wall)
        case .superseded: plan.supersede(key, ticket: ticket, possiblySent: flight.possiblySentBefore)
        case .mustWait(let duration, let reason):
            plan.wait(flight, ticket: ticket, lane: lane, until: wall.advanced(by: duration), reason: reason)
        }
    }

    /// Why an entry does not go out now.
    private enum Obstacle {
        case hadItsAttempt
        case expired
        case blacklisted
        case superseded
        case mustWait(Duration, Reason)
    }

    private func obstacle(
        to flight: SentWindow.Flight, _ fields: PackedNotification.Fields, token: () -> DeviceToken?,
        _ entry: BlacklistEntry?, wall: WallTime
    ) -> Obstacle? {
        if flight.hasOneAttempt, flight.possiblySentBefore { return .hadItsAttempt }
        if fields.isExpired(at: wall) {
            return clockGuard.isTrusted ? .expired : .mustWait(WallClockGuard.distrust, .clockDistrusted)
        }
        if let entry, TokenBlacklist.holds(entry, registeredAt: fields.tokenRegisteredAt) { return .blacklisted }
        if !suspectTokens.isEmpty, let token = token(), suspectTokens.contains(token) {
            return .mustWait(configuration.suspects.hold, .suspectToken)
        }
        return nil
    }

    /// Whether a newer update of the same live activity is on its way, or has arrived.
    private func isSuperseded(
        _ uid: UID, _ fields: PackedNotification.Fields, _ batch: EntryBatch
    ) throws(JournalError) -> Bool {
        guard configuration.supersedesLiveActivities, fields.pushType == .liveactivity,
            let update = LiveActivityUpdate(batch.bytes.span, in: fields.payload), update.isUpdate
        else { return false }
        let activity = LiveActivityUpdates.Activity(
            recipient: fields.recipient(in: batch.bytes),
            topic: String(decoding: batch.bytes[fields.topic], as: UTF8.self))
        let successor = producer.shared.withLock { shared in
            shared.liveActivities.successor(of: update, of: activity, uid: uid)
        }
        guard let successor else { return false }
        // One that was refused, say, stands for nothing.
        return switch try journal.fate(of: successor) {
        case .unconfirmed, .deferred, .settled(.confirmed), nil: true
        case .settled, .quarantined: false
        }
    }

    func readFailed(_ error: any Error, now: Duration) {
        let error = error as? JournalError ?? JournalError(.damaged, "an entry can't be read: \(error)")
        guard !Self.isFatal(error) else { return fail(error) }
        log(.readFailed, "the journal can't be read and will be tried again: \(error)", error.metadata)
        readAgainAt = now + configuration.settlementRetry
    }

    // MARK: Lanes with one attempt, while nothing can go out

    /// What lies between the hand-outs and the mark, or has come back and waits, would be *unknown* after a crash although
    /// it never left. So the mark steps back, and what waits goes back among the deferred.
    func retreatMarks(now: Duration, wall: WallTime) {
        let isOpen = pool.active.contains { links[$0]?.pausedUntil == nil }
        let canHandOut =
            isOpen && parkedUntil == nil && !outcomesAreFull && shutdownDeadline == nil && !throttle.isPaused
        for index in lanes.indices {
            // What an earlier process may have sent keeps the mark of any lane where it is: what waits below it, and was
            // not sent, would be taken for sent after an orderly end too.
            guard lanes[index].key.guarantee == .atMostOnce || shutdownDeadline != nil && lanes[index].mustKeepMark
            else { continue }
            if canHandOut && lanes[index].handsOut { continue }
            deferAgain(index, now: now, wall: wall)
            if retreatAgainAt == nil, let mark = lanes[index].retreat() { lowerMark(index, to: mark) }
        }
    }

    private func deferAgain(_ index: Int, now: Duration, wall: WallTime) {
        guard lanes[index].againCount > 0, readAgainAt == nil else { return }
        var plan = SettlementPlan()
        do throws(JournalError) {
            let again = lanes[index].takeAllAgain(limit: 1000)
            let batch: EntryBatch
            do throws(JournalError) {
                batch = try journal.unconfirmed(lanes[index].id, uids: again.map(\.uid))
            } catch {
                lanes[index].requeue(again)
                throw error
            }
            let possiblySent = Set(again.lazy.filter(\.possiblySent).map(\.uid))
            let link = links[Self.noConnection]
            var unreadable = batch.unreadable
            for position in batch.items.indices {
                let item = batch.items[position]
                do throws(UnreadablePosition) {
                    let fields = try readableFields(of: batch, at: position)
                    let flight = flight(of: item, fields, lane: index, possiblySent: { possiblySent.contains($0) })
                    guard let ticket = link?.window.settleUnsent(flight) else { continue }
                    plan.wait(flight, ticket: ticket, lane: lanes[index].id, until: wall, reason: .neverProcessed)
                } catch {
                    unreadable.append(UnreadableEntry(uid: item.uid, fault: error.fault))
                }
            }
            quarantine(unreadable, of: index, wall: wall) { possiblySent.contains($0) }
        } catch {
            return readFailed(error, now: now)
        }
        carryOut(plan, connection: Self.noConnection, now: now, wall: wall)
    }

    func lowerMark(_ index: Int, to mark: UID) {
        journal.lowerMark(of: lanes[index].id, to: mark) { [weak self, log] result in
            var isLowered = true
            if case .failure(let error) = result {
                log(.markNotLowered, "a send mark was not set back: \(error)", error.metadata)
                isLowered = false
            }
            self?.post { $0.marksLowered.append((index, isLowered)) }
        }
    }
}
