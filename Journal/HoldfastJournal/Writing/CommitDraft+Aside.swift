import Holdfast
import HoldfastLMDB

/// Entries that silence has confirmed: put aside, recalled by a late error, confirmed when their time is over.
extension CommitDraft {
    /// Moves entries aside; those beyond the bound are confirmed, the oldest first.
    ///
    /// - Parameter keys: ascending.
    mutating func putAside(
        _ keys: ArraySlice<EntryKey>, of batch: SettlementBatch, _ report: inout SettlementReport
    ) throws(LMDBError) -> Int {
        guard let aside = tables.aside, !keepsNothingAside, batch.greatestAside > 0 else {
            return try acknowledge(keys.map { Acknowledgement($0) }[...], of: batch, &report)
        }
        if try transaction.statistics(of: aside.rows).entries == 0 {
            try EntriesStore.raiseFormat(to: EntriesStore.asideFormat, transaction, tables.facts)
        }
        var moved = 0
        var parts = 0
        for key in keys {
            if isOver(after: parts) { break }
            parts += 1
            guard let record = try takeUnconfirmed(key) else {
                report.gone += 1
                continue
            }
            let (lane, uid) = (key.lane.rawValue, key.uid.rawValue)
            let row = AsideRecord.bytes(
                since: batch.settledAt, keepsOutcome: batch.keepsOutcomes, keepsPayload: batch.keepsPayloads,
                record: record.span)
            try transaction.put(Key.entry(lane, uid).span, row.span, in: aside.rows)
            let place = Key.aside(since: batch.settledAt.milliseconds, lane, uid)
            try transaction.put(place.span, Span<UInt8>(), in: aside.order)
            state.putAside(EntryRecord.uncheckedHead(record.span).producer)
            report.settled += 1
            moved += 1
        }
        let surplus = try transaction.statistics(of: aside.rows).entries - batch.greatestAside
        // As many again, so that a bound that was lowered is reached without a commit that holds up others.
        if surplus > 0 { _ = try confirmAside(min(surplus, 2 * moved)) { _ in true } }
        return parts
    }

    /// Makes an entry that lies aside unconfirmed again.
    ///
    /// - Returns: whether it is; also where an earlier commit of the same settlement has done it.
    mutating func recall(
        _ key: EntryKey, due: WallTime?, possiblySent: Bool
    ) throws(LMDBError) -> Bool {
        guard let old = try takeAside(key) else { return try isUnconfirmed(key) }
        let head = EntryRecord.uncheckedHead(old.record.span)
        state.recall(head.producer)
        let flags: EntryRecord.Flags = possiblySent ? .possiblySent : []
        if let due {
            let record = Self.rewritten(
                old.record, key, attempts: head.attempts, reason: .neverProcessed, adding: flags)
            try putDeferred(key, record, due: due.milliseconds)
            return true
        }
        let record = Self.rewritten(old.record, key, attempts: head.attempts, reason: nil, adding: flags)
        let place = Key.entry(key.lane.rawValue, key.uid.rawValue)
        try transaction.put(place.span, record.span, in: tables.entries)
        let isFlagged = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
        state.update(key.lane.rawValue) { lane in
            lane.entries += 1
            if isFlagged { lane.flaggedEntries += 1 }
        }
        return true
    }

    private func isUnconfirmed(_ key: EntryKey) throws(LMDBError) -> Bool {
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        if try transaction.get(name.span, in: tables.entries, { _ in }) { return true }
        return try transaction.get(name.span, in: tables.deferredIndex) { _ in }
    }

    private mutating func takeAside(_ key: EntryKey) throws(LMDBError) -> (record: [UInt8], head: AsideRecord)? {
        guard let aside = tables.aside else { return nil }
        let name = Key.entry(key.lane.rawValue, key.uid.rawValue)
        guard let row = try transaction.get(name.span, in: aside.rows) else { return nil }
        _ = try transaction.delete(name.span, in: aside.rows)
        let head = AsideRecord.unchecked(row.span)
        let place = Key.aside(since: head.since, key.lane.rawValue, key.uid.rawValue)
        _ = try transaction.delete(place.span, in: aside.order)
        return (AsideRecord.entry(row.span), head)
    }

    /// Confirms the oldest of what lies aside, until `isOver` says no of one or the budget is used up.
    ///
    /// - Parameter isOver: by when it was put aside.
    /// - Returns: how many were confirmed, and whether none is left of which `isOver` says yes.
    mutating func confirmAside(
        _ budget: Int, where isOver: (Int64) -> Bool
    ) throws(LMDBError) -> (Int, isOver: Bool) {
        try confirmAside(budget, from: .first, where: isOver)
    }

    /// From which end of the order.
    enum AsideEnd { case first, last }

    mutating func confirmAside(
        _ budget: Int, from end: AsideEnd, where isOver: (Int64) -> Bool
    ) throws(LMDBError) -> (Int, isOver: Bool) {
        guard let aside = tables.aside else { return (0, true) }
        var keys: [EntryKey] = []
        var isAll = true
        try transaction.withCursor(aside.order) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try end == .first ? cursor.first() : cursor.last()
            while found {
                var key: EntryKey?
                cursor.withKey { place in
                    guard isOver(place.asideTime) else { return }
                    key = EntryKey(
                        lane: LaneID(rawValue: place.bigEndian32(at: 8)), uid: UID(place.bigEndian64(at: 12)))
                }
                guard let key else { break }
                guard keys.count < budget else {
                    isAll = false
                    break
                }
                keys.append(key)
                try cursor.delete()
                found = try end == .first ? cursor.first() : cursor.last()
            }
        }
        for key in keys { try confirmAside(key) }
        return (keys.count, isAll)
    }

    private mutating func confirmAside(_ key: EntryKey) throws(LMDBError) {
        guard let (record, aside) = try takeAside(key) else { return }
        let head = EntryRecord.uncheckedHead(record.span)
        state.endAside(head.producer)
        try endNewest(key.uid.rawValue, record: record.span, .confirmed)
        if head.flags.contains(.hasIdentity) { try noteOutcome(.confirmed, of: key.uid.rawValue) }
        guard aside.keepsOutcome else { return }
        outcomes.append(
            LoggedEnd(code: OutcomeCode.confirmed, settledAt: aside.since, attempts: 1), of: record.span, key,
            LoggedParticulars(keepsPayload: aside.keepsPayload))
    }
}

extension Span<UInt8> {
    /// The time in a key of `asideOrder`.
    var asideTime: Int64 { Int64(bitPattern: bigEndian64(at: 0)) ^ .min }
}

extension JournalState {
    /// An entry was put aside: it waits for nobody, and is not over.
    mutating func putAside(_ producer: UInt16) {
        guard let index = index(of: producer) else { return }
        producers[index].unconfirmed = max(0, producers[index].unconfirmed - 1)
    }

    mutating func recall(_ producer: UInt16) {
        if let index = index(of: producer) { producers[index].unconfirmed += 1 }
    }

    /// An entry that lay aside is confirmed.
    mutating func endAside(_ producer: UInt16) {
        facts.totals.count(.confirmed, 1)
        if let index = index(of: producer) { producers[index].totals.count(.confirmed, 1) }
    }
}
