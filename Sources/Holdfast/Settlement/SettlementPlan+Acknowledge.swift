extension SettlementPlan {
    mutating func acknowledge(_ key: EntryKey, _ flight: SentWindow.Flight, ticket: Ticket) {
        now.batch.acknowledged.append(Acknowledgement(key, sentAgo: sentAgo(flight)))
        now.tickets.append(ticket)
        counts.confirmed += 1
        confirmed.add(since: flight.dueAt)
    }

    /// Runs of a cumulative window that were taken by the service.
    ///
    /// - Parameters:
    ///   - isKeptAside: whether a late error may recall them.
    ///   - withdrawn: entries that an operator has taken back, which are not counted.
    mutating func acknowledge(
        _ runs: [CumulativeWindow.Run], lanes: [LaneID], basis: ConfirmationBasis, isKeptAside: Bool = false,
        withdrawn: Set<EntryKey> = []
    ) {
        for run in runs {
            let keys = run.uids.map { EntryKey(lane: lanes[run.lane], uid: UID($0)) }
            if isKeptAside {
                now.batch.quieted += keys
            } else {
                now.batch.acknowledged += keys.map { Acknowledgement($0) }
            }
            now.positions += run.count
            let count = withdrawn.isEmpty ? run.count : keys.count { !withdrawn.contains($0) }
            counts.confirmed += count
            confirmed.add(count, since: run.dueAt)
            switch basis {
            case .answer: continue
            case .barrier: counts.confirmedByBarrier += count
            case .quiet: counts.confirmedByQuiet += count
            }
            let through = UID(run.uids.upperBound)
            if let index = now.cleared.firstIndex(where: { $0.lane == run.lane && $0.basis == basis }) {
                now.cleared[index].count += count
                now.cleared[index].through = max(now.cleared[index].through, through)
            } else {
                now.cleared.append(Cleared(lane: run.lane, count: count, through: through, basis: basis))
            }
        }
    }
}
