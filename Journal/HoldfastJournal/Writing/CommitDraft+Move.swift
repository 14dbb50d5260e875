import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// Moves an entry to another lane, among its deferred entries.
    ///
    /// A record that can't be read names its old lane, and would be damage in the other: its entry stays where it is, to be
    /// found out when it is read.
    ///
    /// - Returns: whether it was there to be moved.
    mutating func move(
        _ key: EntryKey, to lane: LaneID, due: Int64, reason: Reason, possiblySent: Bool
    ) throws(LMDBError) -> Bool {
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        guard lane != key.lane, state.hasLane(lane.rawValue),
            let stored = try transaction.get(name.span, in: tables.entries),
            case .success(let record) = EntryRecord.read(
                stored.span, lane: key.lane.rawValue, uid: key.uid.rawValue)
        else { return false }
        let flags: EntryRecord.Flags = possiblySent ? [.isMoved, .possiblySent] : .isMoved
        let bytes = Self.rewritten(
            stored, key, attempts: record.head.attempts, reason: reason, adding: flags, lane: lane)
        guard try takeEntry(key) != nil else { return false }
        try putDeferred(EntryKey(lane: lane, uid: key.uid), bytes, due: due)
        // Its lane may have had no entry as new as this one.
        state.update(lane.rawValue) { record in record.lastUID = max(record.lastUID, key.uid.rawValue) }
        return true
    }
}
