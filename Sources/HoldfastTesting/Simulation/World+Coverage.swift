internal import Holdfast

/// An entry is *unknown* only if a connection had it: a send mark covers nothing else than what has a place in a window.
extension World {
    /// At the moment of a crash: entries with one attempt that lie below the mark and that nobody ever got will be
    /// *unknown*, so there must have been places for them.
    func checkCovered() {
        guard core != nil, !rules.loweringHasFailed, !rules.hasFailed else { return }
        let disk = snapshot
        for route in routes.indices {
            let name = routes[route].name
            var covered: [UID] = []
            for (_, lane) in disk.lanes where lane.key.route == name && lane.key.guarantee == .atMostOnce {
                for (uid, record) in lane.entries.all where uid <= lane.mark && !record.isPossiblySent {
                    // What cannot be read is moved aside, and is never *unknown*. What an operator is taking back has given up
                    // its place, although that is not on disk yet.
                    guard let entry = ledger[uid], entry.copies.isEmpty, !entry.isPossiblySentByRule,
                        !entry.isImportedAsSent, !entry.isDamaged, !entry.requested.contains(.withdrawn)
                    else { continue }
                    covered.append(uid)
                }
            }
            guard !covered.isEmpty else { continue }
            let inFlight = ledger.open.count { $0.lane.route == name && $0.isInFlight(life: life) }
            // What had a place before the route was given fewer connections keeps it.
            let limit = route == 1 ? swarm.engine.cumulativeWindow * widest[route] : swarm.engine.window
            if inFlight + covered.count > limit {
                violate(
                    2,
                    "a crash makes \(covered.count) entries unknown that never left, the first \(covered[0]); \(inFlight) "
                        + "are in flight, and the window of route \(name) is \(limit)")
            }
        }
    }

    /// In a living process: nothing that no connection ever got becomes *unknown*.
    func wasEverHandedOut(_ entry: LedgerEntry) -> Bool {
        !entry.copies.isEmpty || entry.isPossiblySentByRule || entry.isFlagged || entry.isImportedAsSent
    }
}
