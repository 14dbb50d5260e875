package import Holdfast
import HoldfastLMDB

extension Snapshot {
    /// Counts the lane's entries that are due at exactly this time.
    func deferredCount(_ lane: LaneID, dueAt due: WallTime, in table: Table) throws(LMDBError) -> Int {
        try withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            let start = Key.deferred(lane.rawValue, due: due.milliseconds, 0)
            var (found, count, last) = (try cursor.seek(atLeast: start.span), 0, UInt64(0))
            while found {
                var isOver = false
                cursor.withKey { key in
                    let uid = key.bigEndian64(at: 12)
                    // One at or below the one before it lies in an older page, which could lead back here.
                    isOver = key.bigEndian32(at: 0) != lane.rawValue || key.dueTime != due.milliseconds || uid <= last
                    last = uid
                }
                if isOver { break }
                count += 1
                found = try cursor.next()
            }
            return count
        }
    }
}

extension JournalReader {
    /// The paused tags, in the order in which they were paused, each with the number of entries that wait for it.
    package func pausedTags() throws(JournalError) -> [DeskStatus.PausedTag] {
        guard let note = try note(TagPauses.noteName) else { return [] }
        let pauses = try TagPauses(note: note).all
        let lanes = pauses.isEmpty ? [] : try status().lanes.filter { $0.heldByTag > 0 }
        return try pauses.map { (pause) throws(JournalError) in
            let held = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                var held = 0
                for lane in lanes {
                    held += try snapshot.deferredCount(lane.id, dueAt: pause.place, in: store.tables.deferred)
                }
                return held
            }
            return DeskStatus.PausedTag(tag: pause.tag, since: pause.since, reason: pause.reason, held: held)
        }
    }

    /// The pause that holds entries with this tag; `nil` when none does.
    package func pause(of tag: [UInt8]) throws(JournalError) -> TagPause? {
        guard let note = try note(TagPauses.noteName) else { return nil }
        return try TagPauses(note: note).pause(of: tag)
    }
}
