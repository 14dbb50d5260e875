import Holdfast
import HoldfastLMDB

/// Counts the entries that a crash would leave possibly sent: entries at or below their lane's mark, and entries whose
/// record says so.
enum PossiblySent {
    /// Rows read in one snapshot, so that counting pins no pages for long.
    private static let stride = 10_000

    private struct Part {
        let count: Int
        /// Where the next part begins.
        let next: UInt64?
    }

    /// - Returns: a number for each lane, lane 1 first.
    static func count(_ lanes: [LaneRecord], in entries: Table, _ readers: ReaderPool) throws(LMDBError) -> [Int] {
        var counts: [Int] = []
        for (index, lane) in lanes.enumerated() {
            counts.append(lane.flaggedDeferred)
            if lane.entries == 0 || lane.mark == 0 && lane.flaggedEntries == 0 { continue }
            if lane.mark >= lane.lastUID {
                counts[index] += lane.entries
                continue
            }
            // Above the mark only records that are flagged count, and mostly there are none.
            let last = lane.flaggedEntries > 0 ? UInt64.max : lane.mark
            var next: UInt64? = 0
            while let start = next {
                let read = try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) -> Part in
                    try part(UInt32(index) + 1, from: start, through: last, mark: lane.mark, entries, snapshot)
                }
                counts[index] += read?.count ?? 0
                next = read?.next
            }
        }
        return counts
    }

    private static func part(
        _ lane: UInt32, from start: UInt64, through last: UInt64, mark: UInt64, _ entries: Table,
        _ snapshot: borrowing Snapshot
    ) throws(LMDBError) -> Part {
        try snapshot.withCursor(entries) { (cursor: inout Cursor) throws(LMDBError) -> Part in
            var count = 0
            var looks = 0
            var found = try cursor.seek(atLeast: Key.entry(lane, start).span)
            while found {
                var uid: UInt64?
                var counts = false
                cursor.withCurrent { key, record in
                    let place = key.bigEndian64(at: 4)
                    guard key.bigEndian32(at: 0) == lane, place <= last else { return }
                    uid = place
                    counts = place <= mark || EntryRecord.uncheckedHead(record).flags.contains(.possiblySent)
                }
                // Below the start it is out of order, and going on from it would never end.
                guard let uid, uid >= start else { break }
                if looks == stride { return Part(count: count, next: uid) }
                looks += 1
                if counts { count += 1 }
                found = try cursor.next()
            }
            return Part(count: count, next: nil)
        }
    }
}
