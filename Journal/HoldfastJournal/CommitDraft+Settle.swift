import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// Settles at most `budget` of the batch's parts, those it acknowledges first.
    ///
    /// - Parameter start: how many of them earlier commits have settled.
    mutating func settle(
        _ batch: SettlementBatch, acknowledged: [EntryKey], from start: Int, budget: Int
    ) throws(LMDBError) -> Progress {
        var report = SettlementReport(settled: 0, gone: 0)
        if start == 0 { state.facts.totals.possibleDuplicates += UInt64(batch.possibleDuplicates) }
        let end = min(start + budget, batch.count)
        let direct = min(start, acknowledged.count)..<min(end, acknowledged.count)
        if !direct.isEmpty { try acknowledge(acknowledged[direct], &report) }
        for part in direct.upperBound..<max(end, direct.upperBound) where part >= start {
            let settlement = batch.others[part - acknowledged.count]
            let settled = try settle(settlement)
            if settled { report.settled += 1 } else { report.gone += 1 }
        }
        return .settled(report, parts: end - start)
    }

    private mutating func acknowledge(_ keys: ArraySlice<EntryKey>, _ report: inout SettlementReport) throws(LMDBError)
    {
        var missed: [EntryKey] = []
        var deleted: [UInt32: Int] = [:]
        try transaction.withCursor(tables.entries) { (cursor: inout Cursor) throws(LMDBError) in
            var lane: UInt32 = 0
            var count = 0
            for key in keys {
                if key.lane.rawValue != lane {
                    if count > 0 { deleted[lane, default: 0] += count }
                    (lane, count) = (key.lane.rawValue, 0)
                }
                if try cursor.find(Key.entry(lane, key.uid.rawValue).span) {
                    try cursor.delete()
                    count += 1
                } else {
                    missed.append(key)
                }
            }
            if count > 0 { deleted[lane, default: 0] += count }
        }
        var settled = 0
        for (lane, count) in deleted {
            state.update(lane) { record in record.entries -= count }
            settled += count
        }
        for key in missed {
            if try takeDeferred(key) != nil { settled += 1 } else { report.gone += 1 }
        }
        state.facts.totals.confirmed += UInt64(settled)
        report.settled += settled
    }

    /// - Returns: false when the entry is gone.
    private mutating func settle(_ settlement: Settlement) throws(LMDBError) -> Bool {
        switch settlement.kind {
        case .deferUntil(let due, let attempts, let reason):
            // Not one that lies deferred already: this answer is the later one of two, and the first durable one wins.
            guard let record = try takeEntry(settlement.key) else { return false }
            try putDeferred(settlement.key, record, due: due.milliseconds, attempts: attempts, reason: reason)
        case .reject(let cause):
            guard let record = try take(settlement.key) else { return false }
            let bytes = RejectionRecord.bytes(cause, record: record)
            try transaction.put(Key.uid(settlement.key.uid.rawValue).span, bytes.span, in: tables.rejections)
            state.facts.totals.rejected += 1
        case .expire:
            guard try take(settlement.key) != nil else { return false }
            state.facts.totals.expired += 1
        case .unknown:
            guard try take(settlement.key) != nil else { return false }
            state.facts.totals.unknown += 1
        }
        return true
    }

    // MARK: Taking entries out

    /// Takes an entry from where it lies: a late answer that ends an entry holds although it was deferred meanwhile.
    private mutating func take(_ key: EntryKey) throws(LMDBError) -> [UInt8]? {
        if let record = try takeEntry(key) { return record }
        return try takeDeferred(key)
    }

    private mutating func takeEntry(_ key: EntryKey) throws(LMDBError) -> [UInt8]? {
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        guard let record = try transaction.get(name.span, in: tables.entries) else { return nil }
        _ = try transaction.delete(name.span, in: tables.entries)
        state.update(key.lane.rawValue) { lane in lane.entries -= 1 }
        return record
    }

    private mutating func takeDeferred(_ key: EntryKey) throws(LMDBError) -> [UInt8]? {
        guard let lane = state[key.lane.rawValue], lane.deferred > 0 else { return nil }
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        var found: Int64?
        _ = try transaction.get(name.span, in: tables.deferredIndex) { value in
            if value.count == 8 { found = Int64(bitPattern: value.load(UInt64.self, at: 0)) }
        }
        guard let due = found else { return nil }
        return try takeDeferred(key, due: due)
    }

    private mutating func takeDeferred(_ key: EntryKey, due: Int64) throws(LMDBError) -> [UInt8]? {
        let place = Key.deferred(key.lane.rawValue, due: due, key.uid.rawValue)
        guard let record = try transaction.get(place.span, in: tables.deferred) else { return nil }
        _ = try transaction.delete(place.span, in: tables.deferred)
        _ = try transaction.delete(Key.entry(key.lane.rawValue, key.uid.rawValue).span, in: tables.deferredIndex)
        state.update(key.lane.rawValue) { lane in lane.deferred -= 1 }
        return record
    }

    // MARK: Deferring and promoting

    private mutating func putDeferred(
        _ key: EntryKey, _ record: [UInt8], due: Int64, attempts: UInt16, reason: Reason
    ) throws(LMDBError) {
        let lane = key.lane.rawValue
        let uid = key.uid.rawValue
        let bytes = Self.rewritten(record, lane: lane, uid: uid, attempts: attempts, reason: reason)
        try transaction.put(Key.deferred(lane, due: due, uid).span, bytes.span, in: tables.deferred)
        var index: [UInt8] = []
        index.appendLittleEndian(UInt64(bitPattern: due))
        try transaction.put(Key.entry(lane, uid).span, index.span, in: tables.deferredIndex)
        state.update(lane) { record in record.deferred += 1 }
    }

    /// The record with other attempts and reason. A damaged one stays as it is, so that it is found out when it is read
    /// and not hidden under a fresh checksum.
    private static func rewritten(_ record: [UInt8], lane: UInt32, uid: UInt64, attempts: UInt16, reason: Reason)
        -> [UInt8]
    {
        guard case .success(let old) = EntryRecord.read(record.span, lane: lane, uid: uid) else { return record }
        let words = Array(reason.rawValue.utf8.prefix(255))
        var bytes = [UInt8](repeating: 0, count: EntryRecord.byteCount(body: old.body.count, reason: words.count))
        var output = bytes.mutableSpan
        EntryRecord.write(
            lane: lane, uid: uid, attempts: attempts, acceptedAt: old.acceptedAt, body: old.body, of: record.span,
            reason: words.span, into: &output)
        return bytes
    }

    /// Moves the lane's due entries back, oldest due first.
    mutating func promote(_ lane: UInt32, now: Int64, limit: Int) throws(LMDBError) -> Progress {
        var due: [(due: Int64, uid: UInt64)] = []
        var more = false
        if limit > 0, let record = state[lane], record.deferred > 0 {
            try transaction.withCursor(tables.deferred) { (cursor: inout Cursor) throws(LMDBError) in
                var found = try cursor.seek(atLeast: Key.deferred(lane, due: .min, 0).span)
                while found {
                    var next: (due: Int64, uid: UInt64)?
                    cursor.withCurrent { key, _ in
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
        for (due, uid) in due { try promote(EntryKey(lane: LaneID(rawValue: lane), uid: UID(uid)), due: due) }
        return .promoted(due.map { entry in UID(entry.uid) }, isLast: !more)
    }

    private mutating func promote(_ key: EntryKey, due: Int64) throws(LMDBError) {
        guard let record = try takeDeferred(key, due: due) else { return }
        try transaction.put(Key.entry(key.lane.rawValue, key.uid.rawValue).span, record.span, in: tables.entries)
        state.update(key.lane.rawValue) { lane in lane.entries += 1 }
    }
}
