import Holdfast
import HoldfastLMDB

/// The log of outcomes: what ended is added, readers move on.
extension CommitDraft {
    /// Adds the end of an entry to the log, unless the batch keeps none. One whose record is damaged is left out, since nobody
    /// can say whose end it is.
    ///
    /// - Parameter record: the entry's, as it lay in the journal.
    func keepOutcome(
        _ outcome: TerminalOutcome, cause: RejectionCause?, of record: Span<UInt8>, _ key: EntryKey,
        _ batch: SettlementBatch
    ) {
        guard batch.keepsOutcomes else { return }
        let detail = batch.details[key.uid]
        let isAttempt = detail?.isAttempt ?? Self.isAttempt(outcome, cause)
        let end = LoggedEnd(
            code: OutcomeCode.code(of: outcome), settledAt: batch.settledAt.milliseconds,
            sentAt: detail?.sentAgo.time(before: batch.settledAt)?.milliseconds, attempts: isAttempt ? 1 : 0)
        let particulars = LoggedParticulars(
            cause: cause, uniqueID: detail?.uniqueID, keepsPayload: batch.keepsPayloads)
        outcomes.append(end, of: record, key, particulars)
    }

    /// Whether an end of which no more is known was the answer to an attempt.
    private static func isAttempt(_ outcome: TerminalOutcome, _ cause: RejectionCause?) -> Bool {
        switch outcome {
        case .confirmed: true
        case .rejected: cause?.status != nil
        default: false
        }
    }

    // MARK: Readers

    /// A new one begins at the newest outcome.
    mutating func openReader(_ name: String, isWaitedFor: Bool) throws(LMDBError) -> Progress {
        guard let index = state.readers.firstIndex(where: { $0.name == name }) else {
            guard state.readers.count < OutcomeReader.greatestCount else {
                return .failed(
                    JournalError(
                        .invalidEntry,
                        "\(directory) knows at most \(OutcomeReader.greatestCount) readers of outcomes, and has as many: "
                            + "forget one of them"))
            }
            state.readers.append(
                OutcomeReader(name: name, cursor: OutcomeCursor(outcomes.newest), isWaitedFor: isWaitedFor))
            try EntriesStore.raiseFormat(to: EntriesStore.logFormat, transaction, tables.facts)
            return try storeReader(state.readers.count - 1)
        }
        guard state.readers[index].isWaitedFor != isWaitedFor else { return .readerSet(state.readers[index].cursor) }
        state.readers[index].isWaitedFor = isWaitedFor
        return try storeReader(index)
    }

    mutating func setReader(_ name: String, to cursor: OutcomeCursor?) throws(LMDBError) -> Progress {
        guard let index = state.readers.firstIndex(where: { $0.name == name }) else {
            return .failed(
                JournalError(.notFound, "\(directory) has no reader of outcomes named \(name.debugDescription)"))
        }
        guard let cursor else {
            state.readers.remove(at: index)
            let key = Array(name.utf8)
            _ = try transaction.delete(key.span, in: readerTable)
            return .readerSet(.start)
        }
        guard cursor.rawValue <= outcomes.newest else {
            return .failed(
                JournalError(
                    .invalidEntry,
                    "the reader \(name.debugDescription) cannot be at outcome \(cursor): the newest of \(directory) is "
                        + "\(outcomes.newest)"))
        }
        state.readers[index].cursor = cursor
        return try storeReader(index)
    }

    private var readerTable: Table {
        guard let table = tables.outcomeLog?.readers else {
            preconditionFailure("a journal that is open for writing has all tables")
        }
        return table
    }

    private func storeReader(_ index: Int) throws(LMDBError) -> Progress {
        let reader = state.readers[index]
        let (key, bytes) = (Array(reader.name.utf8), OutcomeReaderRecord.bytes(reader))
        try transaction.put(key.span, bytes.span, in: readerTable)
        return .readerSet(reader.cursor)
    }

    // MARK: At the commit

    /// Puts what was added into the table, lets older outcomes go for it, and puts the bounds if they have changed.
    mutating func storeLog() throws(LMDBError) {
        guard let tables = tables.outcomeLog else { return }
        try outcomes.store(transaction, tables.log)
        state.log.newest = outcomes.newest
        try keepLogToLimit(tables)
        guard state.log != before.log else { return }
        if before.log.newest == 0 {
            try EntriesStore.raiseFormat(to: EntriesStore.logFormat, transaction, self.tables.facts)
        }
        let (key, bounds) = (OutcomeTables.boundsKey, state.log.bytes)
        try transaction.put(key.span, bounds.span, in: self.tables.facts)
    }

    /// Puts some rows of a segment's index, and with the last one the segment counts as having it.
    ///
    /// - Returns: the work as it stands when the commit is done; nil when there is nothing more to do.
    mutating func putIndex(_ work: IndexWork, budget: Int) throws(LMDBError) -> IndexWork? {
        guard let table = tables.outcomeLog?.index else { return nil }
        // The segment may have been deleted meanwhile.
        guard work.segment >= OutcomeBlock.segment(of: state.log.deleted + 1) else { return nil }
        var work = work
        try transaction.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            var isLast = true
            if let row = work.rows.indices.contains(work.done) ? work.rows[work.done] : nil, try cursor.last() {
                cursor.withKey { key in isLast = key.array.lexicographicallyPrecedes(row.key.span.array) }
            }
            for row in work.rows[work.done...].prefix(budget) {
                try cursor.put(row.key.span, appending: isLast, count: row.value.count) { output in
                    output.copy(0..<row.value.count, of: row.value.span, to: 0)
                }
                work.done += 1
            }
        }
        if work.isDone { state.log.unindexed = max(state.log.unindexed, work.segment + 1) }
        return work.isDone ? nil : work
    }
}
