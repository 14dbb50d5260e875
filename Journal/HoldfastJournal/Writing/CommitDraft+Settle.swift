import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// Settles at most `budget` of the batch's parts, those it acknowledges first, then those that go aside, and fewer when the
    /// time is over.
    ///
    /// - Parameter start: how many of them earlier commits have settled.
    mutating func settle(
        _ batch: SettlementBatch, acknowledged: [Acknowledgement], quieted: [EntryKey], from start: Int, budget: Int
    ) throws(LMDBError) -> Progress {
        var report = SettlementReport()
        if let time = batch.earliestTime { state.facts.wallTime = time }
        let parts = try settleParts(
            of: batch, acknowledged: acknowledged, quieted: quieted, from: start, budget: budget, &report)
        // With the last part: one that fails halfway is asked for again as a whole.
        if start + parts == batch.count { state.facts.totals.possibleDuplicates += UInt64(batch.possibleDuplicates) }
        return .settled(report, parts: parts)
    }

    /// - Returns: how many there were room for.
    private mutating func settleParts(
        of batch: SettlementBatch, acknowledged: [Acknowledgement], quieted: [EntryKey], from start: Int, budget: Int,
        _ report: inout SettlementReport
    ) throws(LMDBError) -> Int {
        let end = min(start + budget, batch.count)
        let direct = min(start, acknowledged.count)..<min(end, acknowledged.count)
        var parts = 0
        if !direct.isEmpty {
            parts = try acknowledge(acknowledged[direct], of: batch, &report)
            if parts < direct.count { return parts }
        }
        let others = acknowledged.count + quieted.count
        let aside = (start..<end).clamped(to: acknowledged.count..<others)
        if !aside.isEmpty {
            let keys = quieted[(aside.lowerBound - acknowledged.count)..<(aside.upperBound - acknowledged.count)]
            let done = try putAside(keys, of: batch, &report)
            parts += done
            if done < aside.count { return parts }
        }
        while start + parts < end, !isOver(after: parts) {
            let result = try settle(batch.others[start + parts - others], of: batch)
            report.count(result)
            parts += 1
        }
        return parts
    }

    /// - Returns: how many of the items it came to.
    mutating func acknowledge(
        _ items: ArraySlice<Acknowledgement>, of batch: SettlementBatch, _ report: inout SettlementReport
    ) throws(LMDBError) -> Int {
        var tally = AcknowledgementTally(identityKey: state.facts.identityKey)
        let settledAt = batch.settledAt.milliseconds
        let keepsOutcomes = batch.keepsOutcomes
        let isPlain = batch.details.isEmpty && !batch.keepsPayloads
        let outcomes = outcomes
        let parts = try transaction.withCursor(tables.entries) { (cursor: inout Cursor) throws(LMDBError) -> Int in
            var parts = 0
            for item in items {
                if isOver(after: parts) { break }
                let key = item.key
                parts += 1
                guard try cursor.find(Key.entry(key.lane.rawValue, key.uid.rawValue).span) else {
                    tally.missed.append(key)
                    continue
                }
                let sentAt = keepsOutcomes ? item.sentAgo.time(before: batch.settledAt)?.milliseconds : nil
                cursor.withCurrent { _, record in
                    tally.take(record, key)
                    guard keepsOutcomes else { return }
                    if isPlain {
                        outcomes.appendConfirmed(record, key, settledAt: settledAt, sentAt: sentAt)
                    } else {
                        outcomes.append(OutcomeCode.confirmed, record, key, Self.confirmed(key, sentAt, in: batch))
                    }
                }
                try cursor.delete()
            }
            return parts
        }
        tally.endRun()
        for run in tally.runs {
            state.update(run.lane) { record in
                record.entries -= run.count
                record.flaggedEntries = max(0, record.flaggedEntries - run.flagged)
            }
            state.end(run.count, of: run.producer, .confirmed)
            report.settled += run.count
        }
        try noteConfirmed(tally.identified)
        for (uid, key) in tally.newest { try endNewest(uid, key, .confirmed) }
        for key in tally.missed {
            if let record = try takeDeferred(key) {
                try end(key, record, .confirmed, cause: nil, of: batch)
                report.settled += 1
            } else {
                report.gone += 1
            }
        }
        return parts
    }

    /// The effect of one settlement.
    enum Effect {
        case gone, settled
        /// As asked for; not as *unknown*.
        case withdrawn
    }

    private mutating func settle(_ settlement: Settlement, of batch: SettlementBatch) throws(LMDBError) -> Effect {
        let key = settlement.key
        switch settlement.kind {
        case .deferUntil(let due, let attempts, let reason, let possiblySent):
            // Not one that lies deferred already: this answer is the later one of two, and the first durable one wins.
            guard let record = try takeEntry(key) else { return .gone }
            let bytes = Self.rewritten(
                record, key, attempts: attempts, reason: reason, adding: possiblySent ? .possiblySent : [])
            try putDeferred(key, bytes, due: due.milliseconds)
        case .reject(let cause):
            guard let record = try takeUnconfirmed(key) else { return .gone }
            let bytes = RejectionRecord.bytes(cause, record: record)
            try transaction.put(Key.uid(key.uid.rawValue).span, bytes.span, in: tables.rejections)
            try end(key, record, .rejected(cause.reason), cause: cause, of: batch)
        case .expire:
            guard let record = try takeUnconfirmed(key) else { return .gone }
            try end(key, record, .expired, cause: nil, of: batch)
        case .unknown:
            guard let record = try takeUnconfirmed(key) else { return try endQuarantined(key, .unknown, of: batch) }
            try end(key, record, .unknown, cause: nil, of: batch)
        case .withdraw:
            guard let record = try takeUnconfirmed(key) else { return try endQuarantined(key, .withdrawn, of: batch) }
            let mayHaveBeenSent = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
            try end(key, record, mayHaveBeenSent ? .unknown : .withdrawn, cause: nil, of: batch)
            if !mayHaveBeenSent { return .withdrawn }
        case .supersede:
            guard let record = try takeUnconfirmed(key) else { return .gone }
            let mayHaveBeenSent = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
            try end(key, record, mayHaveBeenSent ? .unknown : .superseded, cause: nil, of: batch)
        case .move(let lane, let due, let reason):
            guard try move(key, to: lane, due: due.milliseconds, reason: reason) else { return .gone }
        case .recall(let due, let possiblySent):
            guard try recall(key, due: due, possiblySent: possiblySent) else { return .gone }
        }
        return .settled
    }

    /// Ends an entry that lies in quarantine: as *unknown* where it may have been sent.
    private mutating func endQuarantined(
        _ key: EntryKey, _ asked: TerminalOutcome, of batch: SettlementBatch
    ) throws(LMDBError) -> Effect {
        let (row, isThere) = try takeQuarantined(key)
        guard isThere else { return .gone }
        let outcome = row?.isPossiblySent == false ? asked : .unknown
        state.endQuarantined(of: row?.producer ?? 0, outcome)
        if let row { try endNewest(key.uid.rawValue, record: row.record.span, outcome) }
        try noteOutcome(outcome, of: key.uid.rawValue)
        if let row { keepOutcome(outcome, cause: nil, of: row.record.span, key, batch) }
        return outcome == .withdrawn ? .withdrawn : .settled
    }

    /// Records the end of an entry that has been taken out: in the figures, its identity and its outcome.
    private mutating func end(
        _ key: EntryKey, _ record: [UInt8], _ outcome: TerminalOutcome, cause: RejectionCause?,
        of batch: SettlementBatch
    ) throws(LMDBError) {
        let head = EntryRecord.uncheckedHead(record.span)
        if outcome == .superseded {
            try EntriesStore.raiseFormat(to: EntriesStore.scheduleFormat, transaction, tables.facts)
        }
        state.end(1, of: head.producer, outcome)
        try endNewest(key.uid.rawValue, record: record.span, outcome)
        if head.flags.contains(.hasIdentity) { try noteOutcome(outcome, of: key.uid.rawValue) }
        keepOutcome(outcome, cause: cause, of: record.span, key, batch)
    }

    // MARK: Taking entries out

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

    // MARK: Deferring and promoting

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

/// Counts acknowledgements in runs of one lane and Producer, so that the figures are changed once for each run.
private struct AcknowledgementTally {
    struct Run {
        var lane: UInt32
        var producer: UInt16
        var count = 0
        /// Entries whose record says that they are possibly sent.
        var flagged = 0
    }

    private(set) var runs: [Run] = []
    private var run = Run(lane: 0, producer: 0)
    private let identityKey: IdentityKey
    /// Entries of which the newest wins.
    private(set) var newest: [(uid: UInt64, key: NewestKey)] = []

    init(identityKey: IdentityKey) { self.identityKey = identityKey }

    /// UIDs of entries whose identity is remembered.
    private(set) var identified: [UInt64] = []
    /// Not in `entries`.
    var missed: [EntryKey] = []

    mutating func take(_ record: Span<UInt8>, _ key: EntryKey) {
        let head = EntryRecord.uncheckedHead(record)
        if run.lane != key.lane.rawValue || run.producer != head.producer {
            endRun()
            run = Run(lane: key.lane.rawValue, producer: head.producer)
        }
        run.count += 1
        if head.flags.contains(.possiblySent) { run.flagged += 1 }
        if head.flags.contains(.hasIdentity) { identified.append(key.uid.rawValue) }
        if let like = NewestRecord.key(ofRecord: record, identityKey) { newest.append((key.uid.rawValue, like)) }
    }

    mutating func endRun() {
        if run.count > 0 { runs.append(run) }
        run.count = 0
    }
}

extension SettlementReport {
    mutating func count(_ effect: CommitDraft.Effect) {
        switch effect {
        case .gone: gone += 1
        case .settled: settled += 1
        case .withdrawn:
            settled += 1
            withdrawn += 1
        }
    }
}
