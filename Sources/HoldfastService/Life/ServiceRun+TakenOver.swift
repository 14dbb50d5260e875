internal import Holdfast
internal import HoldfastPostgres

/// The journals that a host has taken over from lost hosts, as it tells of them beside its own.
extension ServiceRun {
    /// One of them at a look.
    struct TakenLook {
        let depth: EngineStatus.TakenOver
        /// What holds it up, with its name. Its engine has it as well: for its metrics, and for who asks for the journal.
        let conditions: [HealthCondition]
    }

    /// Looks at each, and tells its log what has changed.
    func lookAtTaken(_ taken: [TakenJournal]) -> [TakenLook] {
        let interval = state.withLock(\.configuration).log.interval
        let findings = takenFindings.withLock { known in
            let present = taken.map {
                ($0.owned.id, known[$0.owned.id] ?? ServiceConditions($0.logger, interval: interval))
            }
            known = Dictionary(present) { first, _ in first }
            return known
        }
        return taken.map { journal in
            let (name, status) = (journal.owned.name, journal.status)
            let found = ServiceFindings(unserved: UnservedLane.lanes(of: status, routes: journal.routes))
            journal.engine.setHostConditions(findings[journal.owned.id]?.look(found.conditions) ?? [])
            // Nobody appends to it, so its limit holds up nothing.
            let conditions = journal.engine.status().conditions.filter { $0.kind != .journalFull }
            return TakenLook(
                depth: EngineStatus.TakenOver(name: name, unconfirmed: status.unconfirmed),
                conditions: conditions.map { $0.ofTakenOver(name) })
        }
    }
}
