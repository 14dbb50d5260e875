package import Holdfast
import HoldfastLMDB

/// The log of outcomes, and its readers.
extension LMDBJournal {
    /// The bounds of the log. From memory.
    package var outcomeLog: OutcomeLogFigures {
        shared.withLock { shared in
            let log = shared.state.log
            return log.figures(
                bytes: shared.figures.logPages * pageByteCount,
                unreadable: shared.outcomeDamage.count(after: log.deleted))
        }
    }

    /// The outcomes after `cursor` that are still in the log, in the order in which they ended.
    package func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage {
        try checkOpen()
        guard let tables = tables.outcomeLog else { return OutcomePage(outcomes: [], end: cursor) }
        let (names, newest) = shared.withLock { shared in (shared.state.producerNames, shared.state.log.newest) }
        let found = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            var damage = OutcomeDamage()
            let page = try OutcomeReading.page(
                after: cursor, limit: limit, newest: newest, producers: names, in: snapshot, tables, &damage)
            return (page: page, damage: damage)
        }
        note(found.damage)
        return found.page
    }

    private func note(_ damage: OutcomeDamage) {
        guard !damage.ranges.isEmpty else { return }
        shared.withLock { shared in shared.outcomeDamage.add(damage) }
    }

    /// Outcomes that match, the newest first.
    package func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int, mostBytes: Int
    ) throws(JournalError) -> OutcomePage {
        try checkOpen()
        guard let tables = tables.outcomeLog else { return OutcomePage(outcomes: [], end: .start) }
        let (names, bounds) = shared.withLock { shared in (shared.state.producerNames, shared.state.log) }
        var search = OutcomeSearch(
            query, before: before, limit: limit, mostBytes: mostBytes, key: identityKey, producers: names,
            newest: bounds.newest)
        while !search.isOver {
            search = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
                var search = search
                try search.look(in: snapshot, tables)
                return search
            }
        }
        note(search.damage)
        return search.page(deleted: bounds.deleted)
    }

    /// The readers of the log. From memory.
    package var outcomeReaders: [OutcomeReader] { shared.withLock { shared in shared.state.readers } }

    /// Registers a reader the first time, at the newest outcome. Durable on return.
    package func openReader(_ name: String, isWaitedFor: Bool) throws(JournalError) -> OutcomeCursor {
        guard OutcomeReaderRecord.nameLengths.contains(name.utf8.count) else {
            throw JournalError(
                .invalidEntry, "the name of a reader of outcomes has 1 to 64 bytes, not \(name.utf8.count)")
        }
        return try ask { reply in .openReader(name, isWaitedFor: isWaitedFor, reply) }
    }

    /// Keeps outcomes behind `cursor` from giving way on a full disk: somebody tells them who notes elsewhere how far they are told.
    ///
    /// The history deletes what is too old or too much all the same. This is not stored: at an opening, any may give way.
    ///
    /// - Parameter cursor: `nil` for any may give way.
    package func holdOutcomes(after cursor: OutcomeCursor?) {
        shared.withLock { shared in shared.held = cursor }
    }

    /// See ``holdOutcomes(after:)``. From memory.
    package var heldOutcomes: OutcomeCursor? { shared.withLock { shared in shared.held } }

    /// Stores how far a reader has come, or forgets it.
    package func setReader(
        _ name: String, to cursor: OutcomeCursor?,
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        leave(.setReader(name, cursor, completion)) { error in completion(.failure(error)) }
    }
}
