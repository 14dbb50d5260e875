import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// Gives the notifications consecutive UIDs, in the order of the submission, and puts their records; those that the
    /// journal remembers are left out.
    mutating func append(_ submission: Submission) throws(LMDBError) -> Progress {
        if let error = refusal(of: submission) { return .failed(error) }
        let known = try find(submission.inquiries)
        var appended =
            submission.retries.isEmpty && submission.histories.isEmpty
            ? try appendNew(submission) : try appendOld(submission)
        appended.known = known
        if let note = submission.note { try setNote(Array(note.name.utf8), note.value) }
        let count = appended.count(of: submission)
        state.facts.nextUID += UInt64(count)
        if let time = submission.earliestTime { state.facts.wallTime = time }
        state.facts.totals.accepted += UInt64(count)
        if !submission.taking.isEmpty {
            taken += submission.taking
            takenAt = max(takenAt, submission.acceptedAt)
        }
        return .appended(appended)
    }

    private mutating func appendNew(_ submission: Submission) throws(LMDBError) -> Appended {
        let first = state.facts.nextUID
        var batch = AppendBatch(submission, first: first)
        let repeats = submission.identities.isEmpty ? [] : try remember(submission, &batch)
        for (index, item) in batch.items.enumerated() {
            try noteNewest(first + UInt64(index), packed: submission.bytes.span, in: item.range)
        }
        if !submission.schedules.isEmpty {
            try putSome(batch, of: submission)
        } else if let lane = batch.items.first?.lane {
            let isOneLane = batch.items.allSatisfy { item in item.lane == lane }
            let order = isOneLane ? nil : Self.byLane(batch.items)
            try put(batch, order: order, of: submission)
        }
        let producer = Int(submission.producer.rawValue) - 1
        state.producers[producer].unconfirmed += batch.items.count
        state.producers[producer].totals.accepted += UInt64(batch.items.count)
        return Appended(first: UID(first), repeats: repeats)
    }

    private func refusal(of submission: Submission) -> JournalError? {
        for item in submission.items where !state.hasLane(item.lane.rawValue) {
            return JournalError(.notFound, "\(directory) has no lane number \(item.lane.rawValue); open it first")
        }
        let producers = [submission.producer] + submission.histories.compactMap(\.history.producer)
        if let producer = producers.map(\.rawValue).first(where: { !state.hasProducer($0) }) {
            return JournalError(.notFound, "\(directory) has no Producer number \(producer); open it first")
        }
        let (_, overflow) = state.facts.nextUID.addingReportingOverflow(UInt64(submission.items.count))
        return overflow ? JournalError(.limitReached, "\(directory) has given out all UIDs there are") : nil
    }

    /// Indices of the items, lane by lane, so that each lane's records go side by side.
    private static func byLane(_ items: [Submission.Item]) -> [Int] {
        items.indices.sorted { lhs, rhs in
            items[lhs].lane == items[rhs].lane ? lhs < rhs : items[lhs].lane < items[rhs].lane
        }
    }

    private mutating func put(_ batch: AppendBatch, order: [Int]?, of submission: Submission) throws(LMDBError) {
        let items = batch.items
        let packed = submission.bytes.span
        var counts: [UInt32: (count: Int, last: UInt64)] = [:]
        try transaction.withCursor(tables.entries) { (cursor: inout Cursor) throws(LMDBError) in
            var head = EntryRecord.Head(lane: 0, uid: 0, producer: submission.producer.rawValue)
            var appending = false
            var run = (count: 0, last: UInt64(0))
            for position in items.indices {
                let index = order?[position] ?? position
                let item = items[index]
                if item.lane.rawValue != head.lane {
                    if head.lane != 0 { counts[head.lane] = run }
                    head.lane = item.lane.rawValue
                    run = (0, 0)
                    appending = try Self.isBehindAll(head.lane, &cursor)
                }
                head.uid = batch.first + UInt64(index)
                head.flags = batch.flags(at: index)
                let range = item.range
                let count = EntryRecord.byteCount(body: range.count)
                try cursor.put(Key.entry(head.lane, head.uid).span, appending: appending, count: count) { output in
                    EntryRecord.write(head, body: range, of: packed, reason: Span<UInt8>(), into: &output)
                }
                run = (run.count + 1, head.uid)
            }
            if head.lane != 0 { counts[head.lane] = run }
        }
        for (lane, run) in counts {
            state.update(lane) { record in
                record.entries += run.count
                record.lastUID = run.last
            }
        }
    }

    /// As ``put(_:order:of:)``, with some that are scheduled: item by item.
    private mutating func putSome(_ batch: AppendBatch, of submission: Submission) throws(LMDBError) {
        for (index, item) in batch.items.enumerated() {
            let key = EntryKey(lane: item.lane, uid: UID(batch.first + UInt64(index)))
            let head = EntryRecord.Head(
                lane: key.lane.rawValue, uid: key.uid.rawValue, producer: submission.producer.rawValue,
                flags: batch.flags(at: index))
            var record = [UInt8](repeating: 0, count: EntryRecord.byteCount(body: item.range.count))
            var output = record.mutableSpan
            EntryRecord.write(
                head, body: item.range, of: submission.bytes.span, reason: Span<UInt8>(), into: &output)
            state.update(key.lane.rawValue) { lane in lane.lastUID = key.uid.rawValue }
            if let time = batch.times[index] {
                try putDeferred(key, record, due: ScheduledPlace.due(for: time).milliseconds)
                continue
            }
            let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
            try transaction.put(name.span, record.span, in: tables.entries)
            state.update(key.lane.rawValue) { lane in lane.entries += 1 }
        }
    }

    /// Whether no lane behind this one has entries, so that new ones of this are the last of the table.
    private static func isBehindAll(_ lane: UInt32, _ cursor: inout Cursor) throws(LMDBError) -> Bool {
        guard try cursor.last() else { return true }
        var last: UInt32 = 0
        cursor.withKey { key in last = key.bigEndian32(at: 0) }
        return last <= lane
    }
}

/// The items of a submission that are put: all but repeats.
struct AppendBatch {
    var items: [Submission.Item]
    /// The UID of the first; the others follow one by one.
    let first: UInt64
    /// Which of the items have an identity; empty when none has.
    var haveIdentity: [Bool] = []
    /// The times that items are scheduled for; empty when none is.
    var times: [WallTime?] = []

    init(_ submission: Submission, first: UInt64) {
        items = submission.items
        self.first = first
        guard !submission.schedules.isEmpty else { return }
        times = Array(repeating: nil, count: items.count)
        for (index, time) in submission.schedules { times[index] = time }
    }

    /// Keeps the items at these indices, ascending.
    mutating func keep(_ indices: [Int]) {
        items = indices.map { items[$0] }
        if !times.isEmpty { times = indices.map { times[$0] } }
    }

    func flags(at index: Int) -> EntryRecord.Flags { !haveIdentity.isEmpty && haveIdentity[index] ? .hasIdentity : [] }
}
