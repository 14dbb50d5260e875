/// The log of outcomes of a running engine.
extension EngineDesk {
    func findOutcomes(_ query: OutcomeQuery, before: OutcomeCursor?, limit: Int) async throws -> OutcomePage {
        defer { core.historyDamage.look(core.journal) }
        return try await atRest.findOutcomes(query, before: before, limit: limit)
    }

    func findRejections(_ query: OutcomeQuery, after uid: UID, limit: Int) async throws -> RejectionPage {
        try await atRest.findRejections(query, after: uid, limit: limit)
    }

    func outcomes(
        after cursor: OutcomeCursor?, limit: Int, of producers: Set<String>?, waitingAtMost wait: Duration
    ) async throws -> OutcomeListing {
        defer { core.historyDamage.look(core.journal) }
        let reading = OutcomeLogReading(core.journal)
        let deadline = ContinuousClock.now + wait
        var listing = try reading.listing(after: cursor, limit: limit, of: producers)
        let wasKept = listing.isKept
        // A gap is told at once, and that the log is turned on or off.
        while listing.outcomes.isEmpty, listing.missed == 0, !listing.wasOff, listing.isKept == wasKept,
            !core.outcomes.hasEnded, !Task.isCancelled
        {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { break }
            if listing.end >= listing.newest { await core.outcomes.wait(after: listing.newest, atMost: left) }
            listing = try reading.listing(after: listing.end, limit: limit, of: producers)
        }
        return listing
    }

    func outcomeLog() async throws -> OutcomeLogStatus { try await atRest.outcomeLog() }

    func openOutcomeReader(_ name: String) async throws -> OutcomeCursor { try await atRest.openOutcomeReader(name) }

    func moveOutcomeReader(_ name: String, to cursor: OutcomeCursor) async throws {
        try await atRest.moveOutcomeReader(name, to: cursor)
    }

    func forgetOutcomeReader(_ name: String) async throws { try await atRest.forgetOutcomeReader(name) }
}
