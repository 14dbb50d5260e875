package import Holdfast
import HoldfastLMDB

/// The log of outcomes, of a journal in use or at rest. Outcomes that an older Holdfast left elsewhere are in it from the
/// journal's next opening for writing on.
extension JournalReader {
    /// The journal's figures as of its newest commit.
    func state() throws(JournalError) -> JournalState { try stored().state }

    private func stored() throws(JournalError) -> (state: JournalState, figures: CommitFigures) {
        let found = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try StoredState(snapshot, store.tables)
        }
        return (try found.state(in: directory), found.figures)
    }

    /// The bounds of the log.
    package func outcomeLog() throws(JournalError) -> OutcomeLogFigures {
        let (state, figures) = try stored()
        return state.log.figures(bytes: figures.logPages * pageByteCount)
    }

    /// The readers of the log.
    package func outcomeReaders() throws(JournalError) -> [OutcomeReader] { try state().readers }

    /// As ``Holdfast/JournalService/outcomes(after:limit:)``.
    package func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage {
        guard let tables = store.tables.outcomeLog else { return OutcomePage(outcomes: [], end: cursor) }
        let state = try state()
        return try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            var damage = OutcomeDamage()
            return try OutcomeReading.page(
                after: cursor, limit: limit, newest: state.log.newest, producers: state.producerNames, in: snapshot,
                tables, &damage)
        }
    }

    /// As ``Holdfast/JournalService/findOutcomes(_:before:limit:mostBytes:)``.
    package func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor? = nil, limit: Int, mostBytes: Int = .max
    ) throws(JournalError) -> OutcomePage {
        guard let tables = store.tables.outcomeLog else { return OutcomePage(outcomes: [], end: .start) }
        let state = try state()
        var search = OutcomeSearch(
            query, before: before, limit: limit, mostBytes: mostBytes, key: state.facts.identityKey,
            producers: state.producerNames, newest: state.log.newest)
        while !search.isOver {
            search = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                var search = search
                try search.look(in: snapshot, tables)
                return search
            }
        }
        return search.page(deleted: state.log.deleted)
    }
}
