import Holdfast
import HoldfastLMDB

/// Takes entries from where they lie, and puts them elsewhere.
extension CommitDraft {
    /// Takes an entry from where it lies: a late answer that ends an entry holds although it was deferred meanwhile.
    mutating func takeUnconfirmed(_ key: EntryKey) throws(LMDBError) -> [UInt8]? {
        if let record = try takeEntry(key) { return record }
        return try takeDeferred(key)
    }

    mutating func takeEntry(_ key: EntryKey) throws(LMDBError) -> [UInt8]? {
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        guard let record = try transaction.get(name.span, in: tables.entries) else { return nil }
        _ = try transaction.delete(name.span, in: tables.entries)
        let isFlagged = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
        state.update(key.lane.rawValue) { lane in
            lane.entries -= 1
            if isFlagged { lane.flaggedEntries = max(0, lane.flaggedEntries - 1) }
        }
        return record
    }

    mutating func takeDeferred(_ key: EntryKey) throws(LMDBError) -> [UInt8]? {
        guard let lane = state[key.lane.rawValue], lane.deferred > 0 else { return nil }
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        var found: Int64?
        _ = try transaction.get(name.span, in: tables.deferredIndex) { value in
            if value.count == 8 { found = Int64(bitPattern: value.load(UInt64.self, at: 0)) }
        }
        guard let due = found else { return nil }
        return try takeDeferred(key, due: due)
    }

    mutating func takeDeferred(_ key: EntryKey, due: Int64) throws(LMDBError) -> [UInt8]? {
        let place = Key.deferred(key.lane.rawValue, due: due, key.uid.rawValue)
        guard let record = try transaction.get(place.span, in: tables.deferred) else { return nil }
        _ = try transaction.delete(place.span, in: tables.deferred)
        _ = try transaction.delete(Key.entry(key.lane.rawValue, key.uid.rawValue).span, in: tables.deferredIndex)
        let isFlagged = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
        state.update(key.lane.rawValue) { lane in
            lane.deferred -= 1
            if WallTime(milliseconds: due).isScheduled { lane.scheduled -= 1 }
            if WallTime(milliseconds: due).isPlaceOfTag { lane.held -= 1 }
            if isFlagged { lane.flaggedDeferred = max(0, lane.flaggedDeferred - 1) }
        }
        return record
    }

    mutating func putDeferred(_ key: EntryKey, _ record: [UInt8], due: Int64) throws(LMDBError) {
        let lane = key.lane.rawValue
        let uid = key.uid.rawValue
        try transaction.put(Key.deferred(lane, due: due, uid).span, record.span, in: tables.deferred)
        var index: [UInt8] = []
        index.appendLittleEndian(UInt64(bitPattern: due))
        try transaction.put(Key.entry(lane, uid).span, index.span, in: tables.deferredIndex)
        let isFlagged = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
        let isScheduled = WallTime(milliseconds: due).isScheduled
        let isHeld = WallTime(milliseconds: due).isPlaceOfTag
        if isScheduled || isHeld {
            // An older Holdfast would take the place for a time, and would send it before its own, or never.
            try EntriesStore.raiseFormat(to: EntriesStore.scheduleFormat, transaction, tables.facts)
        }
        state.update(lane) { lane in
            lane.deferred += 1
            if isScheduled { lane.scheduled += 1 }
            if isHeld { lane.held += 1 }
            if isFlagged { lane.flaggedDeferred += 1 }
        }
    }

    /// The record with other attempts, reason and flags. A damaged one stays as it is, so that it is found out when it is
    /// read and not hidden under a fresh checksum.
    ///
    /// - Parameters:
    ///   - reason: nil for the one that it has.
    ///   - lane: nil for the key's.
    static func rewritten(
        _ record: [UInt8], _ key: EntryKey, attempts: UInt16, reason: Reason?, adding flags: EntryRecord.Flags,
        lane: LaneID? = nil
    ) -> [UInt8] {
        guard case .success(let old) = EntryRecord.read(record.span, lane: key.lane.rawValue, uid: key.uid.rawValue)
        else { return record }
        var head = old.head
        head.attempts = attempts
        head.flags.formUnion(flags)
        if let lane { head.lane = lane.rawValue }
        let words = reason.map { Array($0.rawValue.utf8.prefix(255)) } ?? Array(record[old.reason])
        var bytes = [UInt8](repeating: 0, count: EntryRecord.byteCount(body: old.body.count, reason: words.count))
        var output = bytes.mutableSpan
        EntryRecord.write(head, body: old.body, of: record.span, reason: words.span, into: &output)
        return bytes
    }
}
