import Holdfast
import HoldfastLMDB

/// Entries whose records cannot be read.
extension CommitDraft {
    /// Moves at most `budget` of the order's entries aside, each with its record as it lies there.
    ///
    /// - Parameter start: how many of them earlier commits have dealt with.
    mutating func quarantine(
        _ order: QuarantineOrder, from start: Int, budget: Int
    ) throws(LMDBError) -> Progress {
        let part = order.items[start...].prefix(budget)
        var moved: [UID] = []
        for item in part {
            let uid = item.entry.uid
            guard let record = try takeEntry(EntryKey(lane: order.lane, uid: uid)) else { continue }
            let row = QuarantineRecord(
                uid: uid.rawValue, lane: order.lane.rawValue,
                producer: state.setAside(of: EntryRecord.uncheckedHead(record.span).producer),
                fault: item.entry.fault, isPossiblySent: item.isPossiblySent, at: order.at, record: record)
            try putQuarantined(row)
            moved.append(uid)
        }
        return .quarantined(moved, parts: part.count)
    }

    private var quarantineTable: Table {
        guard let table = tables.quarantine else {
            preconditionFailure("a journal that is open for writing has all tables")
        }
        return table
    }

    private func putQuarantined(_ row: QuarantineRecord) throws(LMDBError) {
        let bytes = row.bytes
        try transaction.put(Key.uid(row.uid).span, bytes.span, in: quarantineTable)
        // From here on an older Holdfast would not see all that was accepted.
        try EntriesStore.raiseFormat(to: EntriesStore.asideFormat, transaction, tables.facts)
    }

    /// Brings back at most `budget` of the entries whose records can be read after all.
    mutating func retryQuarantined(
        _ uids: [UID], now: WallTime, from start: Int, budget: Int
    ) throws(LMDBError) -> Progress {
        let part = uids[start...].prefix(budget)
        var restored: [UID] = []
        for uid in part {
            guard let row = try quarantined(uid.rawValue), let entry = row.readable,
                state.hasLane(row.lane)
            else { continue }
            let key = EntryKey(lane: LaneID(rawValue: row.lane), uid: uid)
            let record = row.isPossiblySent ? EntryRecord.flagged(row.record, entry) : row.record
            _ = try transaction.delete(Key.uid(uid.rawValue).span, in: quarantineTable)
            try putDeferred(key, record, due: now.milliseconds)
            state.bringBack(to: entry.head.producer)
            restored.append(uid)
        }
        return .quarantined(restored, parts: part.count)
    }

    private func quarantined(_ uid: UInt64) throws(LMDBError) -> QuarantineRecord? {
        guard let bytes = try transaction.get(Key.uid(uid).span, in: quarantineTable) else { return nil }
        do throws(EntryRecord.Fault) { return try QuarantineRecord(bytes, uid: uid) } catch { return nil }
    }

    /// Takes a quarantined entry out, to end it. One whose row is itself damaged is taken out as well.
    ///
    /// - Returns: nil when it is not there; without a row when that cannot be read.
    mutating func takeQuarantined(_ key: EntryKey) throws(LMDBError) -> (row: QuarantineRecord?, isThere: Bool) {
        let name = Key.uid(key.uid.rawValue)
        guard let bytes = try transaction.get(name.span, in: quarantineTable) else { return (nil, false) }
        var row: QuarantineRecord?
        do throws(EntryRecord.Fault) { row = try QuarantineRecord(bytes, uid: key.uid.rawValue) } catch {}
        if let row, row.lane != key.lane.rawValue { return (nil, false) }
        _ = try transaction.delete(name.span, in: quarantineTable)
        return (row, true)
    }
}

extension EntryRecord {
    /// The same record with the flag that it may have been sent.
    static func flagged(_ bytes: [UInt8], _ entry: EntryRecord) -> [UInt8] {
        var head = entry.head
        head.flags.insert(.possiblySent)
        var flagged = [UInt8](repeating: 0, count: bytes.count)
        var output = flagged.mutableSpan
        EntryRecord.write(
            head, body: entry.body, of: bytes.span, reason: bytes.span.extracting(entry.reason), into: &output)
        return flagged
    }
}

extension JournalState {
    /// An entry is neither unconfirmed nor ended any more.
    ///
    /// - Parameter producer: by the entry's record, which may be damaged: see ``end(_:of:_:)``.
    /// - Returns: the Producer for which that was counted; 0 for none.
    mutating func setAside(of producer: UInt16) -> UInt16 {
        let number = producers.count == 1 ? 1 : producer
        guard hasProducer(number) else { return 0 }
        producers[Int(number) - 1].unconfirmed = max(0, producers[Int(number) - 1].unconfirmed - 1)
        return number
    }

    /// It is unconfirmed again.
    mutating func bringBack(to producer: UInt16) {
        if hasProducer(producer) { producers[Int(producer) - 1].unconfirmed += 1 }
    }

    /// Counts the end of a quarantined entry.
    mutating func endQuarantined(of producer: UInt16, _ outcome: TerminalOutcome) {
        facts.totals.count(outcome)
        if hasProducer(producer) { producers[Int(producer) - 1].totals.count(outcome) }
    }
}
