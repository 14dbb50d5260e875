import Holdfast
import HoldfastLMDB

/// The listing of `quarantine`.
enum QuarantineRow {
    static func list(
        after: UID, limit: Int, _ table: Table?, producers: [String], lanes: [LaneRecord],
        page: (UIDRow.Choice) throws(JournalError) -> [UIDRow]
    ) throws(JournalError) -> [QuarantinedEntry] {
        guard let table else { return [] }
        return try UIDRow.list(after: after, limit: limit, table: table, page: page) { row in
            do throws(EntryRecord.Fault) {
                return try QuarantineRecord(row.value, uid: row.uid).entry(producers: producers, lanes: lanes)
            } catch {
                // The row about the damage is damaged as well. All of it is kept as the record.
                return QuarantinedEntry(
                    uid: UID(row.uid), lane: nil, producer: "", fault: RecordFault(error), isPossiblySent: true,
                    quarantinedAt: WallTime(milliseconds: 0), record: row.value)
            }
        }
    }

    /// Entries by lane, lane 1 first.
    static func count(
        lanes: Int, in snapshot: borrowing Snapshot, _ table: Table?
    ) throws(LMDBError) -> [Int] {
        var counts = [Int](repeating: 0, count: lanes)
        guard let table else { return counts }
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try cursor.first()
            while found {
                cursor.withCurrent { _, value in
                    let lane = value.count >= QuarantineRecord.headerByteCount ? value.load(UInt32.self, at: 16) : 0
                    if lane >= 1, lane <= lanes { counts[Int(lane) - 1] += 1 }
                }
                found = try cursor.next()
            }
        }
        return counts
    }
}
