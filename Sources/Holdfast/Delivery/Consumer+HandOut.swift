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
            if try tryAccused(now: now, wall: wall) { return }
            try fillKeptPlaces(now: now, wall: wall)
            try sharePlaces(now: now, wall: wall)
        } catch {
            readFailed(error, now: now)
        }
    }

    /// Whether more could go out at once if there were more connections.
    var lacksConnections: Bool {
        holdReason == nil && inFlight < placeLimit && roomiest(free: freePlaces()) == nil
            && pool.active.allSatisfy { links[$0]?.pausedUntil == nil }
            && lanes.contains { $0.handsOut && $0.hasWork } && !isSlowedDown
    }

    var isRateUsedUp: Bool {
        guard var rate else { return false }
        return rate.allowance(now: clock.monotonic()) == 0
    }

    /// Whether there is more to send than the route's rate, or its service, allows now.
    var isSlowedDown: Bool {
        guard throttle.isThrottling || isRateUsedUp || caution.isCareful else { return false }
        return lanes.contains { $0.handsOut && $0.hasWork }
    }

    /// How many entries the connection is given next, at most `limit`.
    func grant(_ limit: Int, of index: Int, _ places: Places, now: Duration) -> Int {
        var wanted = min(limit, 1000)
        let kept = places == .kept ? keptPlaces(except: index) : keptPlaces()
        if let allowance = rate?.allowance(now: now) {
            // What is kept goes out by the same allowance as the rest, and first.
            wanted = min(wanted, places == .kept ? allowance : allowance - kept)
        }
        if wanted > 0 { wanted = min(wanted, throttle.allowance(inFlight: inFlight, now: now)) }
        // Suspected tokens take no places.
        if caution.isCareful {
            wanted = min(wanted, caution.allowance(inFlight: inFlight - (placeLimit - windowLimit)))
        }
        guard wanted > 0 else { return 0 }
        let granted = gate.reserve(wanted, route: self.index, inFlight: inFlight + kept, waiting: journal.outcomeCount)
        // Until there is room again, as each turn looks, nothing is asked for: see runTimers.
        // What is kept here has its room, and is filled first. (Where even that gets none, it is given back.)
        if granted == 0, keptPlaces() == 0 || kept < keptPlaces() { outcomesAreFull = true }
        return granted
    }

    /// - Parameters:
    ///   - limit: the most entries.
    /// - Returns: how many entries were dealt with, or were given places; 0 when it is not worth asking again.
    func handOutSome(
        of index: Int, on number: Int, _ link: Link, limit: Int, places: Places, now: Duration, wall: WallTime
    ) throws(JournalError) -> Int {
        let lane = lanes[index]
        guard lane.handsOut, lane.hasWork else { return 0 }
        let room = min(grant(limit, of: index, places, now: now), lane.isRunning ? .max : 1)
        let passedOver = passedOver(in: index)
        if room > 0,
            let taken = try tryOtherTopic(of: index, on: number, link, passingOver: passedOver, now: now, wall: wall)
        {
            return taken
        }
        switch lane.nextStep(limit: room, passingOver: passedOver) {
        case .none:
            return 0
        case .peek(let after):
            return try peek(index, after: after, limit: lane.key.guarantee == .atLeastOnce ? 1 : room)
        case .readAgain(let again):
            let covered = lane.covered(again)
            guard covered > 0 else {
                raise(index, through: again[again.count - 1].uid)
                return 0
            }
            var taken = Array(again.prefix(covered))
            let (number, link) = otherConnection(than: number, for: &taken, lane: index) ?? (number, link)
            let batch = try journal.unconfirmed(lane.id, uids: taken.map(\.uid))
            let possiblySent = Set(taken.lazy.filter(\.possiblySent).map(\.uid))
            lanes[index].takeAgain(taken, isFront: passedOver.isEmpty)
            quarantine(batch.unreadable, of: index, wall: wall) { possiblySent.contains($0) }
            give(batch, of: index, on: number, link, now: now, wall: wall) { possiblySent.contains($0) }
            return taken.count
        case .read(let after, let through):
            let batch = try journal.unconfirmed(lane.id, after: after, through: through, limit: room)
            lanes[index].advance(to: batch.lastUID ?? through, count: batch.wholeCount)
            let markAtOpen = lane.markAtOpen
            quarantine(batch.unreadable, of: index, wall: wall) { $0 <= markAtOpen }
            let fresh = batch.removing(lanes[index].passOver(in: batch))
            give(fresh, of: index, on: number, link, now: now, wall: wall) { $0 <= markAtOpen }
            // Nothing may lie below the mark, and something above it.
            return max(batch.wholeCount, 1)
        }
    }

    /// Looks how far the mark must rise for the next entries. In a lane with one attempt they have places from then on.
    private func peek(_ index: Int, after: UID, limit: Int) throws(JournalError) -> Int {
        let batch = try journal.unconfirmed(lanes[index].id, after: after, through: .max, limit: limit)
        guard let last = batch.lastUID else {
            lanes[index].peekedNothing()
            return 0
        }
        raise(index, through: last, places: batch.wholeCount)
        return lanes[index].key.guarantee == .atLeastOnce ? 0 : batch.wholeCount
    }

    /// What is wanted goes out when the mark's commit has been reported.
    func raise(_ index: Int, through uid: UID, places: Int = 0) {
        guard let ceiling = lanes[index].raise(through: uid, places: places) else { return }
        journal.raiseMark(of: lanes[index].id, to: ceiling)
    }

    /// Hands a batch to the connection, but for entries that must not go: those are settled instead.
    func give(
        _ batch: EntryBatch, of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime,
        possiblySent: (UID) -> Bool
    ) {
        var batch = atLastDoor(batch.removing(withdrawn(in: batch, lane: index)), of: index)
        guard !batch.isEmpty else { return }
        let examined: Examined
        do {
            examined = try examineReadable(
                &batch, lane: index, connection: number, now: now, wall: wall, possiblySent: possiblySent)
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
            if caution.hasSuspects { caution.handedOut(EntryKey(lane: lanes[index].id, uid: flights[position].uid)) }
            tickets.append(link.handOut(flights[position]))
        }
        noteProbe(entries, of: index, on: number, now: now)
        if let last = entries.items.last { lanes[index].handedOut(through: last.uid) }
        link.handOuts += tickets.count
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
        _ batch: inout EntryBatch, lane index: Int, connection: Int, now: Duration, wall: WallTime,
        possiblySent: (UID) -> Bool
    ) throws -> Examined {
        while true {
            do {
                return try examine(
                    batch, lane: index, connection: connection, now: now, wall: wall, possiblySent: possiblySent)
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
        _ batch: EntryBatch, lane index: Int, connection: Int, now: Duration, wall: WallTime,
        possiblySent: (UID) -> Bool
    ) throws -> Examined {
        // Asked once for all of them: hardly ever is there any.
        let (suspects, holdsTopics, hasAccused) = (suspectTokens, !topicHold.isEmpty, caution.hasSuspects)
        // An entry that may go as a topic's probe is asked for once: nothing may be found unreadable behind it.
        if holdsTopics {
            for position in batch.items.indices { _ = try readableFields(of: batch, at: position) }
        }
        var blacklisted: [Int: [BlacklistEntry]] = [:]
        var unreadable: [Int: RecordFault] = [:]
        if producer.blacklist.count > 0 {
            let found = try producer.blacklist.storage.lookUp(batch)
            for (position, entry) in found.entries { blacklisted[position, default: []].append(entry) }
            for (position, fault) in found.unreadable { unreadable[position] = fault }
        }
        let limits = connector.limits
        var examined = Examined()
        examined.flights.reserveCapacity(batch.count)
        for position in batch.items.indices {
            let fields = try readableFields(of: batch, at: position)
            let topic = breakers.number(of: fields.topic, in: batch.bytes)
            let flight = flight(
                of: batch.items[position], fields, lane: index, topic: topic,
                recipient: RefusedEntries.recipient(fields.address, in: batch.bytes), possiblySent: possiblySent)
            examined.flights.append(flight)
            var obstacle = obstacle(
                to: flight, fields, in: batch, blacklisted[position], suspects: suspects, wall: wall)
            if obstacle == nil, !limits.takes(fields) { obstacle = .unsupported }
            if obstacle == nil, let fault = unreadable[position] {
                obstacle = unreadableBlacklist(fields, in: batch, fault)
            }
            if obstacle == nil, try isSuperseded(flight.uid, fields, batch) { obstacle = .superseded }
            // Before it could become the probe of its topic: one that has to wait for others would keep those of its topic
            // waiting, which may be all that it waits for.
            if obstacle == nil, hasAccused { obstacle = suspicion(of: flight) }
            if obstacle == nil, holdsTopics,
                let due = waitForTopic(flight, fields, in: batch, connection: connection, now: now)
            {
                obstacle = isTooOldToWait(flight, fields, in: batch, wall: wall) ? .tooOld : .topicSetAside(until: due)
            }
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
        of item: EntryBatch.Item, _ fields: PackedNotification.Fields, lane index: Int,
        topic: UInt32 = TopicBreakers.none, recipient: UInt64 = RefusedEntries.nobody,
        possiblySent: (UID) -> Bool
    ) -> SentWindow.Flight {
        SentWindow.Flight(
            lane: index, uid: item.uid, attempts: item.attempts,
            possiblySentBefore: item.isPossiblySent || possiblySent(item.uid),
            hasOneAttempt: lanes[index].key.guarantee == .atMostOnce, isBroadcast: fields.isBroadcast, topic: topic,
            recipient: recipient, acceptedAt: fields.acceptedAt)
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
        case .wasRejected(let entry): plan.reject(key, ticket: ticket, answered: entry, wall: wall)
        case .hadItsAttempt: plan.giveUpAsUnknown(key, ticket: ticket)
        case .expired: plan.expire(key, ticket: ticket, possiblySent: flight.possiblySentBefore)
        case .blacklisted:
            plan.reject(key, ticket: ticket, reason: .blacklisted, possiblySent: flight.possiblySentBefore, wall: wall)
        case .unsupported:
            plan.reject(
                key, ticket: ticket, reason: .recipientUnsupported, possiblySent: flight.possiblySentBefore, wall: wall)
        case .superseded: plan.supersede(key, ticket: ticket, possiblySent: flight.possiblySentBefore)
        case .tooOld:
            plan.reject(key, ticket: ticket, reason: .expired, possiblySent: flight.possiblySentBefore, wall: wall)
        case .topicSetAside(let due):
            plan.wait(flight, ticket: ticket, lane: lane, until: due, reason: .topicSetAside)
        case .endsConnections(let ends, let counts):
            putAside(flight, ticket: ticket, ends: ends, counts: counts, wall: wall, plan: &plan)
        case .mustWait(let duration, let reason):
            plan.wait(flight, ticket: ticket, lane: lane, until: wall.advanced(by: duration), reason: reason)
        }
    }

    /// Why an entry does not go out now.
    enum Obstacle {
        /// By the service, before a crash: the entry of the blacklist that says so.
        case wasRejected(BlacklistEntry)
        case hadItsAttempt
        case expired
        case blacklisted
        /// The service has no recipients of this kind.
        case unsupported
        case superseded
        case topicSetAside(until: WallTime)
        /// So many that carried nothing else.
        case endsConnections(Int, counts: Bool)
        /// For a topic whose tokens are called bad.
        case tooOld
        case mustWait(Duration, Reason)
    }

    private func obstacle(
        to flight: SentWindow.Flight, _ fields: PackedNotification.Fields, in batch: EntryBatch,
        _ entries: [BlacklistEntry]?, suspects: Set<TokenOfTopic>, wall: WallTime
    ) -> Obstacle? {
        if flight.possiblySentBefore, let answer = entries?.first(where: { $0.answered == flight.uid }) {
            return .wasRejected(answer)
        }
        if flight.hasOneAttempt, flight.possiblySentBefore { return .hadItsAttempt }
        if fields.isExpired(at: wall) {
            guard let until = clockReading.distrustedUntil else { return .expired }
            let due = clockHold.hold(lane: flight.lane, distrustedUntil: until, wall: wall)
            return .mustWait(due.since(wall), .clockDistrusted)
        }
        guard entries != nil || !suspects.isEmpty, !fields.isBroadcast else {
            return nil
        }
        let topic = String(decoding: batch.bytes[fields.topic], as: UTF8.self)
        let forbidding = TokenBlacklist.forbidding(
            entries ?? [], topic: topic, endpoint: connector.serviceIdentity, registeredAt: fields.tokenRegisteredAt,
            now: wall)
        if forbidding != nil { return .blacklisted }
        if suspects.contains(TokenOfTopic(recipient: fields.recipient(in: batch.bytes), topic: topic)) {
            return .mustWait(configuration.suspects.hold, .suspectToken)
        }
        return nil
    }

    /// A token has a record of the blacklist that nobody can read. It may forbid the entry, which therefore neither goes nor
    /// is rejected: it waits until the record is mended.
    private func unreadableBlacklist(
        _ fields: PackedNotification.Fields, in batch: EntryBatch, _ fault: RecordFault
    ) -> Obstacle {
        let recipient = fields.recipient(in: batch.bytes)
        log(
            .blacklistUnreadable,
            "the blacklist's record of \(recipient.noun) \(recipient) can't be read (\(fault)), so what is for it waits; "
                + "`holdfast blacklist remove` deletes the record, and `blacklist add` writes it anew",
            [recipient.noun: .string("\(recipient)"), "fault": .string("\(fault)")])
        return .mustWait(configuration.probes.maximum, .blacklistUnreadable)
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
        case .unconfirmed, .deferred, .aside, .settled(.confirmed), nil: true
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
            if lanes[index].isPaused, lanes[index].key.guarantee == .atLeastOnce, retreatAgainAt == nil,
                let mark = lanes[index].retreat()
            {
                lowerMark(index, to: mark)
            }
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
