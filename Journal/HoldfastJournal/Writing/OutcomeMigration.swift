import Holdfast
import HoldfastLMDB

/// Moves outcomes of an older Holdfast, which waited one by one in the table `outcomes`, into the log: at an opening for
/// writing, some with each commit.
///
/// The engine's reader, for which they waited, comes before them. They have no topic, and not all of their times are known. Rows that cannot be read stay, for `journal verify`.
enum OutcomeMigration {
    private static let rowsOfCommit = 2000

    /// - Parameters:
    ///   - state: gets the bounds of the log.
    ///   - outcomes: the end of the log.
    /// - Returns: the figures of the last commit; nil if there was nothing to move. On a full disk what is left waits for the
    ///   next opening.
    static func run(
        _ store: EntriesStore, _ state: inout JournalState, _ outcomes: OutcomeAppender, directory: String
    ) throws(JournalError) -> CommitFigures? {
        var figures: CommitFigures?
        var last: UInt64? = 0
        while let after = last {
            do throws(LMDBError) {
                guard let done = try moveSome(after: after, store, &state, outcomes) else { break }
                (figures, last) = (done.figures, done.last)
                outcomes.commit()
            } catch {
                outcomes.rollBack()
                guard error.code.isWantOfRoom else { throw JournalError(error, "open", directory) }
                break
            }
        }
        return figures
    }

    /// - Returns: the last UID that was moved, nil when it was the last of all; nil when there was none.
    private static func moveSome(
        after: UInt64, _ store: EntriesStore, _ state: inout JournalState, _ outcomes: OutcomeAppender
    ) throws(LMDBError) -> (figures: CommitFigures, last: UInt64?)? {
        guard let tables = store.tables.outcomeLog else { return nil }
        let transaction = try WriteTransaction(store.environment)
        var moved = 0
        let last = try transaction.withCursor(store.tables.outcomes) {
            (cursor: inout Cursor) throws(LMDBError) -> UInt64? in
            var last = after
            var found = try cursor.seek(atLeast: Key.uid(after + 1).span)
            while found, moved < rowsOfCommit {
                var isMoved = false
                cursor.withCurrent { key, value in
                    last = key.bigEndian64(at: 0)
                    isMoved = move(last, value.array, outcomes)
                }
                if isMoved {
                    try cursor.delete()
                    moved += 1
                }
                found = try cursor.next()
            }
            return found && last < .max && last > after ? last : nil
        }
        guard moved > 0 else { return nil }
        try outcomes.store(transaction, tables.log)
        var log = state.log
        log.newest = outcomes.newest
        try EntriesStore.raiseFormat(to: EntriesStore.logFormat, transaction, store.tables.facts)
        let (key, bounds) = (OutcomeTables.boundsKey, log.bytes)
        try transaction.put(key.span, bounds.span, in: store.tables.facts)
        let reader = try engineReader(state, transaction, tables)
        let figures = try CommitFigures(transaction, store.tables)
        try transaction.commit()
        state.log = log
        if let reader { state.readers.append(reader) }
        return (figures, last)
    }

    /// Makes the reader for which they have waited, unless there is one.
    private static func engineReader(
        _ state: JournalState, _ transaction: borrowing WriteTransaction, _ tables: OutcomeTables
    ) throws(LMDBError) -> OutcomeReader? {
        guard !state.readers.contains(where: { $0.name == OutcomeReader.engineName }) else { return nil }
        let reader = OutcomeReader(
            name: OutcomeReader.engineName, cursor: OutcomeCursor(state.log.newest), isWaitedFor: true)
        let (key, bytes) = (Array(reader.name.utf8), OutcomeReaderRecord.bytes(reader))
        try transaction.put(key.span, bytes.span, in: tables.readers)
        return reader
    }

    private static func move(_ uid: UInt64, _ value: [UInt8], _ outcomes: OutcomeAppender) -> Bool {
        do throws(EntryRecord.Fault) {
            let outcome = try OutcomeRecord.read(value, uid: uid, producers: [])
            let (row, source, extras) = OutcomeRow.packed(outcome, producer: value.span.load(UInt16.self, at: 22))
            outcomes.append(row, in: source.span, extras: extras.span)
            return true
        } catch {
            return false
        }
    }
}
