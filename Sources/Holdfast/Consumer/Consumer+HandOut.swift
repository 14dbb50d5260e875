internal import Logging

/// From the journal to the connection, as far as the window has room.
extension Consumer {
    func handOut(now: Duration, wall: WallTime) {
        guard case .connected(let number) = phase, readAgainAt == nil else { return }
        for index in lanes.indices {
            guard let ceiling = lanes[index].raiseAhead() else { continue }
            journal.raiseMark(of: lanes[index].id, to: ceiling)
        }
        do throws(JournalError) {
            // The more urgent lanes first; what they leave is for the others.
            for index in lanes.indices {
                while readAgainAt == nil, end == nil, let link = links[number], link.connection != nil,
                    try handOutSome(of: index, on: number, link, now: now, wall: wall)
                {}
            }
        } catch {
            readFailed(error, now: now)
        }
    }

    /// How many more entries the connection may be given; 0 unless it is worth a read of the journal.
    private func room(_ link: Link) -> Int {
        let room = min(configuration.window - inFlight, link.capacity - link.window.unanswered)
        let worthwhile = min(configuration.window, link.capacity) / 8
        return room > worthwhile || link.window.count == 0 ? max(room, 0) : 0
    }

    /// - Returns: whether it is worth asking again for the same lane.
    private func handOutSome(
        of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime
    ) throws(JournalError) -> Bool {
        let room = room(link)
        let lane = lanes[index]
        // What is coming back may be among the entries already, and this side does not know of it yet.
        if promoting.contains(index), lane.mayHaveDeferredAhead { return false }
        switch lane.nextStep(limit: min(room, 1000)) {
        case .none:
            return false
        case .peek(let after):
            let limit = lane.key.guarantee == .atLeastOnce ? 1 : min(room, 1000)
            let batch = try journal.unconfirmed(lane.id, after: after, through: .max, limit: limit)
            guard let last = batch.items.last else {
                lanes[index].advance(to: lane.lastUID)
                return false
            }
            if let ceiling = lanes[index].raise(through: last.uid) { journal.raiseMark(of: lane.id, to: ceiling) }
            return false
        case .readAgain(let again):
            let batch = try journal.unconfirmed(lane.id, uids: again.map(\.uid))
            let possiblySent = Set(again.lazy.filter(\.possiblySent).map(\.uid))
            lanes[index].takeAgain(again)
            give(batch, of: index, on: number, link, now: now, wall: wall) { possiblySent.contains($0) }
            return true
        case .read(let after, let through):
            let batch = try journal.unconfirmed(lane.id, after: after, through: through, limit: min(room, 1000))
            lanes[index].advance(to: batch.items.last?.uid ?? through)
            let markAtOpen = lane.markAtOpen
            let fresh = batch.removing(lanes[index].passOver(in: batch))
            give(fresh, of: index, on: number, link, now: now, wall: wall) { $0 <= markAtOpen }
            return true
        }
    }

    /// Hands a batch to the connection, but for entries that must not go: those are settled instead.
    private func give(
        _ batch: EntryBatch, of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime,
        possiblySent: (UID) -> Bool
    ) {
        guard !batch.isEmpty else { return }
        var plan = SettlementPlan()
        var withheld: [Int] = []
        do {
            withheld = try withhold(
                from: batch, of: index, on: link, wall: wall, plan: &plan, possiblySent: possiblySent)
        } catch {
            // Back into the lane, unharmed: nothing of it went out.
            lanes[index].requeue(
                batch.items.map { LaneStateMachine.Again(uid: $0.uid, possiblySent: possiblySent($0.uid)) })
            return readFailed(error, now: now)
        }
        let entries = batch.removing(withheld)
        var tickets: [Ticket] = []
        tickets.reserveCapacity(entries.count)
        for item in entries.items {
            let wasPossiblySent = possiblySent(item.uid)
            if wasPossiblySent { plan.now.batch.possibleDuplicates += 1 }
            tickets.append(link.window.handOut(flight(of: item, lane: index, possiblySent: wasPossiblySent)))
        }
        board.handedOut(entries.count, possibleDuplicates: plan.now.batch.possibleDuplicates)
        if !entries.isEmpty { link.connection?.send(HandOut(entries: entries, tickets: tickets)) }
        carryOut(plan, connection: number, now: now, wall: wall)
    }

    private func flight(of item: EntryBatch.Item, lane index: Int, possiblySent: Bool) -> SentWindow.Flight {
        SentWindow.Flight(
            lane: index, uid: item.uid, attempts: item.attempts, possiblySentBefore: possiblySent,
            hasOneAttempt: lanes[index].key.guarantee == .atMostOnce)
    }

    /// The indices, ascending, of entries that must not go out, each with a settlement in the plan.
    private func withhold(
        from batch: EntryBatch, of index: Int, on link: Link, wall: WallTime, plan: inout SettlementPlan,
        possiblySent: (UID) -> Bool
    ) throws -> [Int] {
        let hasOneAttempt = lanes[index].key.guarantee == .atMostOnce
        var blacklisted: [Int: BlacklistEntry] = [:]
        if producer.blacklist.count > 0 {
            for (position, entry) in try producer.blacklist.storage.entries(for: batch) {
                blacklisted[position] = entry
            }
        }
        var withheld: [Int] = []
        for position in batch.items.indices {
            let item = batch.items[position]
            let fields = try batch.fields(at: position)
            let wasPossiblySent = possiblySent(item.uid)
            let isBlacklisted =
                blacklisted[position].map { entry in
                    TokenBlacklist.holds(entry, registeredAt: fields.tokenRegisteredAt)
                } ?? false
            let isExpired = fields.isExpired(at: wall)
            guard hasOneAttempt && wasPossiblySent || isExpired || isBlacklisted else { continue }
            withheld.append(position)
            let ticket = link.window.settleUnsent(flight(of: item, lane: index, possiblySent: wasPossiblySent))
            let key = EntryKey(lane: lanes[index].id, uid: item.uid)
            if hasOneAttempt && wasPossiblySent {
                plan.giveUpAsUnknown(key, ticket: ticket)
            } else if isExpired {
                plan.expire(key, ticket: ticket, possiblySent: wasPossiblySent)
            } else {
                plan.reject(key, ticket: ticket, reason: .blacklisted, wall: wall)
            }
        }
        return withheld
    }

    private func readFailed(_ error: any Error, now: Duration) {
        let error = error as? JournalError ?? JournalError(.damaged, "an entry can't be read: \(error)")
        guard !Self.isFatal(error) else { return fail(error) }
        logger.error("the journal can't be read and will be tried again: \(error)")
        readAgainAt = now + configuration.settlementRetry
    }
}
