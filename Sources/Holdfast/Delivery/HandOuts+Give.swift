extension HandOuts {
    /// Hands a batch to the connection, but for entries that must not go: those are settled instead.
    ///
    /// - Parameter most: of those whose topics are not set aside; the rest goes back into the lane.
    func give(
        _ batch: EntryBatch, of index: Int, on number: Int, _ link: Link, atMost most: Int = .max, at now: Moment,
        possiblySent: (UID) -> Bool
    ) {
        var batch = atLastDoor(batch.removing(withdrawn(in: batch, lane: index)), of: index)
        guard !batch.isEmpty else { return }
        if most < batch.count {
            let count = count(in: batch, of: index, through: most)
            putBack(batch.removing(Array(0..<count)), into: index, possiblySent: possiblySent)
            batch = batch.removing(Array(count..<batch.count))
        }
        let examined: Examined
        do {
            examined = try examineReadable(
                &batch, lane: index, connection: number, at: now, possiblySent: possiblySent)
        } catch {
            putBack(batch, into: index, possiblySent: possiblySent)
            return shutdown.readFailed(error, now: now.monotonic)
        }
        // The reading may have taken long. What goes out goes out here, whoever asked for it.
        guard context.isOwner else { return putBack(batch, into: index, possiblySent: possiblySent) }
        var plan = SettlementPlan()
        plan.news = examined.news
        for (position, obstacle) in examined.obstacles {
            judge.withhold(examined.flights[position], because: obstacle, on: link.flights, wall: now.wall, plan: &plan)
        }
        let entries = batch.removing(examined.obstacles.map(\.position))
        if !judge.topicHold.isEmpty || !stretches.isEmpty {
            stretches[index] = entries.isEmpty ? min(2 * (stretches[index] ?? 1), 1000) : nil
        }
        let (tickets, duplicates) = handOut(examined, lane: index, on: link)
        context.spans?.handOut(
            batch, of: lanes[index].id, withheld: examined.obstacles.map(\.position), given: tickets, on: number)
        plan.now.batch.possibleDuplicates = duplicates
        noteProbe(entries, of: index, on: number, now: now.monotonic)
        if let first = entries.items.first, let last = entries.items.last {
            lanes[index].machine.handedOut(through: last.uid)
            context.tell(
                .handedOut(
                    lanes[index].key, first: first.uid, last: last.uid, count: entries.count, connection: number,
                    possibleDuplicates: duplicates))
        }
        link.flights.handOuts += tickets.count
        places.handedOut(tickets.count, now: now.monotonic)
        if !tickets.isEmpty { yielding.handedOut() }
        if !entries.isEmpty { link.connection?.send(HandOut(entries: entries, tickets: tickets)) }
        performer.settle(plan, connection: number, at: now)
    }

    /// Puts entries back into their lane, unharmed: nothing of them went out.
    private func putBack(_ batch: EntryBatch, into index: Int, possiblySent: (UID) -> Bool) {
        lanes[index].machine.requeue(
            batch.items.map { item in
                LaneStateMachine.Again(uid: item.uid, possiblySent: item.isPossiblySent || possiblySent(item.uid))
            })
    }

    /// Puts into the window what has no obstacle.
    private func handOut(
        _ examined: Examined, lane index: Int, on link: Link
    ) -> (tickets: [Ticket], possibleDuplicates: Int) {
        let (flights, withheld) = (examined.flights, examined.obstacles)
        var tickets: [Ticket] = []
        tickets.reserveCapacity(flights.count - withheld.count)
        var (next, duplicates) = (withheld.startIndex, 0)
        let hasSuspects = judge.caution.hasSuspects
        for position in flights.indices {
            if next < withheld.endIndex, withheld[next].position == position {
                next += 1
                continue
            }
            if flights[position].possiblySentBefore { duplicates += 1 }
            if hasSuspects { judge.caution.handedOut(lanes.key(index, flights[position].uid)) }
            tickets.append(link.flights.handOut(flights[position]))
        }
        return (tickets, duplicates)
    }

    /// The first of these goes out as the probe of its stopped lane.
    private func noteProbe(_ entries: EntryBatch, of index: Int, on connection: Int, now: Duration) {
        guard lanes[index].machine.mayProbe, let first = entries.items.first else { return }
        lanes[index].probe.handedOut(first.uid, on: connection, context.configuration.probes, now: now)
        for lane in lanes.indices { lanes[lane].machine.mayProbe = false }
        context.tell(.laneProbed(lanes[index].key, first.uid))
    }

    /// The indices, ascending, of what an operator has taken back.
    private func withdrawn(in batch: EntryBatch, lane index: Int) -> [Int] {
        guard !withdrawing.isEmpty else { return [] }
        return batch.items.indices.filter { withdrawing.contains(lanes.key(index, batch.items[$0].uid)) }
    }

    /// The batch without entries that are in flight already, on whichever connection: the last look before a hand-out,
    /// whoever asked for it. There should be none: the reading is ahead of everything that was handed out, and what goes
    /// again has left its window. Should this be broken, an entry stays with the connection that has it.
    private func atLastDoor(_ batch: EntryBatch, of index: Int) -> EntryBatch {
        guard let first = batch.items.first, lanes[index].machine.mayBeInFlight(from: first.uid) else { return batch }
        let uids = batch.items.map(\.uid)
        let inFlight = Set(connections.links.values.flatMap { $0.flights.inFlight(lane: index, among: uids) })
        guard !inFlight.isEmpty else { return batch }
        context.tell(.secondHandOut(lanes[index].key, inFlight.count))
        return batch.removing(batch.items.indices.filter { inFlight.contains(batch.items[$0].uid) })
    }
}
