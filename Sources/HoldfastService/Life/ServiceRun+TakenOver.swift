internal import Holdfast
internal import HoldfastPostgres

/// What a host tells of the journals that it has taken over from lost hosts.
extension ServiceRun {
    /// What holds them up, each with its journal's name. Their engines have it as well: for their metrics, and who asks for the journal.
    func takenConditions(_ life: ServiceLife?) -> [HealthCondition] {
        let all = life?.fleet?.taken ?? []
        let interval = state.withLock(\.configuration).log.interval
        return all.flatMap { taken -> [HealthCondition] in
            let findings = takenFindings.withLock { known in
                let findings = known[taken.owned.id] ?? ServiceConditions(taken.logger, interval: interval)
                known = known.filter { entry in all.contains { $0.owned.id == entry.key } }
                known[taken.owned.id] = findings
                return findings
            }
            let found = ServiceFindings(unserved: UnservedLane.lanes(of: taken.status, routes: taken.routes))
            taken.engine.setHostConditions(findings.look(found.conditions))
            // Nobody appends to it, so its limit holds up nothing.
            return taken.engine.status().conditions.filter { $0.kind != .journalFull }
                .map { $0.ofTakenOver(taken.owned.name) }
        }
    }
}
