import Holdfast
import HoldfastLMDB

/// Appends for operators: rejections that are sent again, and entries of another journal. Item by item, since these are
/// few.
extension CommitDraft {
    /// Gives the items consecutive UIDs and puts each where it lay; retries whose rejection is gone are left out.
    mutating func appendOld(_ submission: Submission) throws(LMDBError) -> Appended {
        let first = state.facts.nextUID
        let retries = Dictionary(submission.retries.map { ($0.index, $0.rejection) }) { first, _ in first }
        let histories = Dictionary(submission.histories.map { ($0.index, $0.history) }) { first, _ in first }
        var gone: [Int] = []
        for (index, item) in submission.items.enumerated() {
            if let rejection = retries[index],
                try !transaction.delete(Key.uid(rejection.rawValue).span, in: tables.rejections)
            {
                gone.append(index)
                continue
            }
            let uid = UID(first + UInt64(index - gone.count))
            var hasIdentity = false
            if let rejection = retries[index] {
                hasIdentity = try moveIdentity(
                    from: rejection.rawValue, to: uid.rawValue, acceptedAt: submission.acceptedAt.milliseconds)
            }
            try put(
                item, as: EntryKey(lane: item.lane, uid: uid), of: submission, histories[index] ?? EntryHistory(),
                hasIdentity ? .hasIdentity : [])
        }
        return Appended(first: UID(first), gone: gone)
    }

    private mutating func put(
        _ item: Submission.Item, as key: EntryKey, of submission: Submission, _ history: EntryHistory,
        _ flags: EntryRecord.Flags
    ) throws(LMDBError) {
        let producer = (history.producer ?? submission.producer).rawValue
        let head = EntryRecord.Head(
            lane: key.lane.rawValue, uid: key.uid.rawValue, producer: producer, attempts: history.attempts,
            flags: flags.union(history.isPossiblySent ? .possiblySent : []))
        let reason = Array((history.lastReason?.rawValue ?? "").utf8.prefix(255))
        var record = [UInt8](
            repeating: 0, count: EntryRecord.byteCount(body: item.range.count, reason: reason.count))
        var output = record.mutableSpan
        EntryRecord.write(head, body: item.range, of: submission.bytes.span, reason: reason.span, into: &output)
        state.update(key.lane.rawValue) { lane in lane.lastUID = key.uid.rawValue }
        state.producers[Int(producer) - 1].unconfirmed += 1
        state.producers[Int(producer) - 1].totals.accepted += 1
        switch history.place {
        case .waiting:
            try noteNewest(key.uid.rawValue, packed: submission.bytes.span, in: item.range)
            try transaction.put(
                Key.entry(key.lane.rawValue, key.uid.rawValue).span, record.span, in: tables.entries)
            state.update(key.lane.rawValue) { lane in
                lane.entries += 1
                if history.isPossiblySent { lane.flaggedEntries += 1 }
            }
        case .deferred(let due):
            try noteNewest(key.uid.rawValue, packed: submission.bytes.span, in: item.range)
            try putDeferred(key, record, due: due.milliseconds)
        case .rejected(let cause):
            let bytes = RejectionRecord.bytes(cause, record: record)
            try transaction.put(Key.uid(key.uid.rawValue).span, bytes.span, in: tables.rejections)
            state.end(1, of: producer, .rejected(cause.reason))
        }
    }
}
