import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// Moves the lane's due entries back, oldest due first.
    mutating func promote(
        _ lane: UInt32, after: Int64?, now: Int64, limit: Int
    ) throws(LMDBError) -> Progress {
        var due: [(due: Int64, uid: UInt64)] = []
        var more = false
        let isLast = after == .max
        let start = Key.deferred(lane, due: after.map { $0 + (isLast ? 0 : 1) } ?? .min, 0)
        if limit > 0, !isLast, let record = state[lane], record.deferred > 0 {
            try transaction.withCursor(tables.deferred) { (cursor: inout Cursor) throws(LMDBError) in
                var found = try cursor.seek(atLeast: start.span)
                while found {
                    var next: (due: Int64, uid: UInt64)?
                    cursor.withKey { key in
                        if key.bigEndian32(at: 0) == lane, key.dueTime <= now {
                            next = (key.dueTime, key.bigEndian64(at: 12))
                        }
                    }
                    guard let next else { break }
                    if due.count == limit {
                        more = true
                        break
                    }
                    due.append(next)
                    found = try cursor.next()
                }
            }
        }
        var promoted: [UID] = []
        for (due, uid) in due {
            if isOver(after: promoted.count) { break }
            try promote(EntryKey(lane: LaneID(rawValue: lane), uid: UID(uid)), due: due)
            promoted.append(UID(uid))
        }
        return .promoted(promoted, isLast: !more && promoted.count == due.count)
    }

    private mutating func promote(_ key: EntryKey, due: Int64) throws(LMDBError) {
        // It was read a moment ago: only a search that a damaged page leads astray does not find it.
        guard let record = try takeDeferred(key, due: due) else {
            throw LMDBError(.corrupted, "mdb_get", path: directory)
        }
        try transaction.put(Key.entry(key.lane.rawValue, key.uid.rawValue).span, record.span, in: tables.entries)
        let isFlagged = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
        state.update(key.lane.rawValue) { lane in
            lane.entries += 1
            if isFlagged { lane.flaggedEntries += 1 }
        }
    }
}
