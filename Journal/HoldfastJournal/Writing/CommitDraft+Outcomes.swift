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
        log(
            OutcomeCode.code(of: outcome), record, key,
            LoggedEnd(
                settledAt: batch.settledAt.milliseconds,
                sentAt: detail?.sentAgo.time(before: batch.settledAt)?.milliseconds, attempts: isAttempt ? 1 : 0,
                cause: cause, uniqueID: detail?.uniqueID,
                keepsPayload: batch.keepsPayloads))
    }

    /// Whether an end of which no more is known was the answer to an attempt.
    private static func isAttempt(_ outcome: TerminalOutcome, _ cause: RejectionCause?) -> Bool {
        switch outcome {
        case .confirmed: true
        case .rejected: cause?.status != nil
        default: false
        }
    }

    /// The details of an end that the entry's own record does not have.
    struct LoggedEnd {
        var settledAt: Int64
        /// Nil if it is not known.
        var sentAt: Int64?
        /// Beside those of the record.
        var attempts: UInt64
        var cause: RejectionCause?
        var uniqueID: String?
        var keepsPayload: Bool
    }

    /// The details of an acknowledgement.
    static func confirmed(_ key: EntryKey, _ sentAt: Int64?, in batch: SettlementBatch) -> LoggedEnd {
        let detail = batch.details[key.uid]
        return LoggedEnd(
            settledAt: batch.settledAt.milliseconds,
            sentAt: detail?.sentAgo.time(before: batch.settledAt)?.milliseconds ?? sentAt,
            attempts: detail?.isAttempt == false ? 0 : 1, cause: nil, uniqueID: detail?.uniqueID,
            keepsPayload: batch.keepsPayloads)
    }

    func log(_ code: UInt8, _ record: Span<UInt8>, _ key: EntryKey, _ end: LoggedEnd) {
        outcomes.append(code, record, key, end)
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

    /// Puts what was added into the table, and the bounds if they have changed.
    mutating func storeLog() throws(LMDBError) {
        guard let tables = tables.outcomeLog else { return }
        try outcomes.store(transaction, tables.log)
        state.log.newest = outcomes.newest
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
                cursor.withCurrent { key, _ in isLast = key.array.lexicographicallyPrecedes(row.key.span.array) }
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

extension OutcomeAppender {
    /// Adds a confirmation of which nothing more is known, as nearly all are.
    @inline(__always)
    func appendConfirmed(_ record: Span<UInt8>, _ key: EntryKey, settledAt: Int64, sentAt: Int64?) {
        guard let entry = EntryRecord.trusted(record, lane: key.lane.rawValue, uid: key.uid.rawValue) else { return }
        let fields: PackedNotification.Fields
        do throws(PackedNotification.Damage) {
            fields = try PackedNotification.Fields(record, in: entry.body)
        } catch {
            return
        }
        guard fields.context.isEmpty else {
            let end = CommitDraft.LoggedEnd(settledAt: settledAt, sentAt: sentAt, attempts: 1, keepsPayload: false)
            return append(OutcomeCode.confirmed, record, key, end)
        }
        let row = OutcomeRow(
            code: OutcomeCode.confirmed, settledAt: settledAt, sentAt: sentAt,
            attempts: UInt64(entry.head.attempts) + 1, head: entry.head, fields: fields)
        append(row, in: record, extras: Span<UInt8>())
    }

    /// Adds the end of an entry, by its record. One whose lengths do not add up is left out.
    @inline(__always)
    func append(_ code: UInt8, _ record: Span<UInt8>, _ key: EntryKey, _ end: CommitDraft.LoggedEnd) {
        guard let entry = EntryRecord.trusted(record, lane: key.lane.rawValue, uid: key.uid.rawValue) else { return }
        let fields: PackedNotification.Fields
        do throws(PackedNotification.Damage) {
            fields = try PackedNotification.Fields(record, in: entry.body)
        } catch {
            return
        }
        let row = OutcomeRow(
            code: code, settledAt: end.settledAt, sentAt: end.sentAt,
            attempts: UInt64(entry.head.attempts) + end.attempts,
            head: entry.head, fields: fields)
        let isPlain = end.cause == nil && end.uniqueID == nil && !end.keepsPayload && fields.context.isEmpty
        if isPlain { return append(row, in: record, extras: Span<UInt8>()) }
        let extras = OutcomeExtras(
            cause: end.cause, context: record.extracting(fields.context).array,
            uniqueID: Array((end.uniqueID ?? "").utf8),
            payload: end.keepsPayload ? record.extracting(fields.payload).array : [])
        append(row, in: record, extras: extras.bytes(settledAt: end.settledAt).span)
    }
}
