import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// Gives the notifications consecutive UIDs, in the order of the submission, and puts their records.
    mutating func append(_ submission: Submission) throws(LMDBError) -> Progress {
        let first = state.facts.nextUID
        let items = submission.items
        for item in items where !state.hasLane(item.lane.rawValue) {
            return .failed(
                JournalError(.notFound, "\(directory) has no lane number \(item.lane.rawValue); open it first"))
        }
        let (next, overflow) = first.addingReportingOverflow(UInt64(items.count))
        if overflow {
            return .failed(JournalError(.limitReached, "\(directory) has given out all UIDs there are"))
        }
        if let lane = items.first?.lane {
            let isOneLane = items.allSatisfy { item in item.lane == lane }
            let order = isOneLane ? nil : Self.byLane(items)
            try put(submission, order: order, first: first)
        }
        if let note = submission.note { try setNote(Array(note.name.utf8), note.value) }
        state.facts.nextUID = next
        state.facts.totals.accepted += UInt64(items.count)
        return .appended(UID(first))
    }

    /// Indices of the items, lane by lane, so that each lane's records go side by side.
    private static func byLane(_ items: [Submission.Item]) -> [Int] {
        items.indices.sorted { lhs, rhs in
            items[lhs].lane == items[rhs].lane ? lhs < rhs : items[lhs].lane < items[rhs].lane
        }
    }

    private mutating func put(_ submission: Submission, order: [Int]?, first: UInt64) throws(LMDBError) {
        let items = submission.items
        let packed = submission.bytes.span
        var counts: [UInt32: (count: Int, last: UInt64)] = [:]
        try transaction.withCursor(tables.entries) { (cursor: inout Cursor) throws(LMDBError) in
            var lane: UInt32 = 0
            var appending = false
            var run = (count: 0, last: UInt64(0))
            for position in items.indices {
                let index = order?[position] ?? position
                let item = items[index]
                let uid = first + UInt64(index)
                if item.lane.rawValue != lane {
                    if lane != 0 { counts[lane] = run }
                    lane = item.lane.rawValue
                    run = (0, 0)
                    appending = try Self.isBehindAll(lane, &cursor)
                }
                let range = item.range
                let count = EntryRecord.byteCount(body: range.count)
                let accepted = EntryRecord.acceptedAt(of: range, in: packed)
                try cursor.put(Key.entry(lane, uid).span, appending: appending, count: count) { output in
                    EntryRecord.write(
                        lane: lane, uid: uid, attempts: 0, acceptedAt: accepted, body: range, of: packed,
                        reason: Span<UInt8>(), into: &output)
                }
                run = (run.count + 1, uid)
            }
            if lane != 0 { counts[lane] = run }
        }
        for (lane, run) in counts {
            state.update(lane) { record in
                record.entries += run.count
                record.lastUID = run.last
            }
        }
    }

    /// Whether no lane behind this one has entries, so that new ones of this are the last of the table.
    private static func isBehindAll(_ lane: UInt32, _ cursor: inout Cursor) throws(LMDBError) -> Bool {
        guard try cursor.last() else { return true }
        var last: UInt32 = 0
        cursor.withCurrent { key, _ in last = key.bigEndian32(at: 0) }
        return last <= lane
    }
}
