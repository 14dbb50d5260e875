import Holdfast
import HoldfastLMDB

/// Entries of which the newest wins: a row for each recipient, topic and collapse id of which any has not ended.
extension CommitDraft {
    /// Notes an entry that is appended, if the newest wins among those like it.
    func noteNewest(_ uid: UInt64, packed bytes: Span<UInt8>, in range: Range<Int>) throws(LMDBError) {
        guard let key = NewestKey(packed: bytes, in: range, key: state.facts.identityKey) else { return }
        let name = NewestRecord.key(key)
        // An older Holdfast would send the older one after the newer one, and would not keep the row.
        try EntriesStore.raiseFormat(to: EntriesStore.scheduleFormat, transaction, tables.facts)
        let expiration = PackedNotification.expiration(of: bytes, in: range)
        try putNewest(name, .accepting(UID(uid), expiration: expiration, after: try newest(name)))
    }

    /// Notes the end of an entry by its record.
    func endNewest(_ uid: UInt64, record: Span<UInt8>, _ outcome: TerminalOutcome) throws(LMDBError) {
        guard let key = NewestRecord.key(ofRecord: record, state.facts.identityKey) else { return }
        try endNewest(uid, key, outcome)
    }

    func endNewest(_ uid: UInt64, _ key: NewestKey, _ outcome: TerminalOutcome) throws(LMDBError) {
        let name = NewestRecord.key(key)
        guard let known = try newest(name) else { return }
        try putNewest(name, known.ending(UID(uid), as: outcome))
    }

    private var newestTable: Table {
        guard let table = tables.newest else {
            preconditionFailure("a journal that is open for writing has all tables")
        }
        return table
    }

    /// A damaged row says nothing, and is written over.
    private func newest(_ name: [UInt8]) throws(LMDBError) -> NewestEntries? {
        try transaction.get(name.span, in: newestTable).flatMap { NewestRecord.read($0, key: name) }
    }

    private func putNewest(_ name: [UInt8], _ entries: NewestEntries?) throws(LMDBError) {
        if let entries {
            try transaction.put(name.span, NewestRecord.bytes(entries, key: name).span, in: newestTable)
        } else {
            _ = try transaction.delete(name.span, in: newestTable)
        }
    }
}
