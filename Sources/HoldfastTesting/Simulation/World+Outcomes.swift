internal import Holdfast

/// The application takes outcomes: at once, slowly, or never before the trouble ends.
extension World {
    func takeOutcomes() {
        guard swarm.engine.keepsOutcomes, !application.isTaking, journal.unreadOutcomeCount > 0 else { return }
        if !isHealing {
            if swarm.rate(.outcomesNever) > 0.03 { return happenedOnce(.outcomesNever) }
            if swarm.rate(.outcomesSlow) > 0, !dice.chance(0.2) { return happened(.outcomesSlow) }
        }
        guard let reader = journal.outcomeReaders.first(where: { $0.name == OutcomeReader.engineName }) else {
            return violate(2, "outcomes are kept for a reader that the journal does not know")
        }
        let page: OutcomePage
        do throws(JournalError) {
            page = try journal.outcomes(after: reader.cursor, limit: isHealing ? 1000 : dice.number(1...50))
        } catch {
            return note("no outcomes: \(error.code)")
        }
        if let first = page.outcomes.first, first.cursor.rawValue != reader.cursor.rawValue + 1 {
            violate(2, "the outcome after cursor \(reader.cursor) is \(first.cursor)")
        }
        for outcome in page.outcomes { check(outcome) }
        note("took \(page.outcomes.count) outcomes")
        application.isTaking = true
        journal.setReader(OutcomeReader.engineName, to: page.end) { [weak self, life] _ in
            if let self, self.life == life { application.isTaking = false }
        }
    }

    private func happenedOnce(_ trouble: Trouble) {
        if counts[trouble] == nil { happened(trouble) }
    }

    private func check(_ outcome: Outcome) {
        guard let entry = ledger[outcome.uid] else {
            return violate(2, "an outcome names entry \(outcome.uid), which was never accepted")
        }
        if entry.outcome != outcome.terminal {
            violate(2, "the outcome of entry \(outcome.uid) is \(outcome.terminal), and it ended otherwise")
        }
        if let delivered = entry.delivered, delivered != outcome.terminal {
            violate(2, "entry \(outcome.uid) had two outcomes: \(delivered) and \(outcome.terminal)")
        }
        let submitted = application.submitted[entry.serial]
        // Of one that cannot be read nobody can say more.
        if entry.isDamaged {
            entry.delivered = outcome.terminal
            return
        }
        if outcome.tag != entry.notification.tag || outcome.recipient != entry.notification.recipient
            || outcome.id != entry.notification.id || outcome.producer != submitted?.producer
        {
            violate(2, "the outcome of entry \(outcome.uid) does not say what was submitted")
        }
        entry.delivered = outcome.terminal
    }

    /// At rest everything that ended while outcomes are kept was delivered.
    func checkDelivered() {
        guard swarm.engine.keepsOutcomes else { return }
        for entry in ledger.entries where entry.delivered == nil && !entry.isDamaged {
            violate(2, "entry \(entry.uid) ended as \(entry.outcome.map { "\($0)" } ?? "-"), which was never delivered")
        }
    }
}
