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
            guard let record = try takeUnconfirmed(key) else {
                return try endQuarantined(key, .withdrawn, cause: batch.withdrawal, of: batch)
            }
            let mayHaveBeenSent = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
            let cause = mayHaveBeenSent ? batch.withdrawal : nil
            try end(key, record, mayHaveBeenSent ? .unknown : .withdrawn, cause: cause, of: batch)
            if !mayHaveBeenSent { return .withdrawn }
        case .withdrawSent:
            guard let record = try takeUnconfirmed(key) else {
                return try endQuarantined(key, .unknown, cause: batch.withdrawal, of: batch)
            }
            try end(key, record, .unknown, cause: batch.withdrawal, of: batch)
        case .supersede:
            guard let record = try takeUnconfirmed(key) else { return .gone }
            let mayHaveBeenSent = EntryRecord.uncheckedHead(record.span).flags.contains(.possiblySent)
            try end(key, record, mayHaveBeenSent ? .unknown : .superseded, cause: nil, of: batch)
        case .move(let lane, let due, let reason, let possiblySent):
            guard
                try move(key, to: lane, due: due.milliseconds, reason: reason, possiblySent: possiblySent)
            else { return .gone }
        case .recall(let due, let possiblySent):
            guard try recall(key, due: due, possiblySent: possiblySent) else { return .gone }
        }
        return .settled
    }

    /// Ends an entry that lies in quarantine: as *unknown* where it may have been sent.
    ///
    /// - Parameter cause: of an *unknown* outcome.
    private mutating func endQuarantined(
        _ key: EntryKey, _ asked: TerminalOutcome, cause: RejectionCause? = nil, of batch: SettlementBatch
    ) throws(LMDBError) -> Effect {
        let (row, isThere) = try takeQuarantined(key)
        guard isThere else { return .gone }
        let outcome = row?.isPossiblySent == false ? asked : .unknown
        state.endQuarantined(of: row?.producer ?? 0, outcome)
        if let row { try endNewest(key.uid.rawValue, record: row.record.span, outcome) }
        try noteOutcome(outcome, of: key.uid.rawValue)
        guard let row else { return outcome == .withdrawn ? .withdrawn : .settled }
        keepOutcome(outcome, cause: outcome == .unknown ? cause : nil, of: row.record.span, key, batch)
        return outcome == .withdrawn ? .withdrawn : .settled
    }

    /// Records the end of an entry that has been taken out: in the figures, its identity and its outcome.
    mutating func end(
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
