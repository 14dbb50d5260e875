import Holdfast
import HoldfastLMDB

extension CommitDraft {
    /// - Returns: how many of the items it came to.
    mutating func acknowledge(
        _ items: ArraySlice<Acknowledgement>, of batch: SettlementBatch, _ report: inout SettlementReport
    ) throws(LMDBError) -> Int {
        var tally = AcknowledgementTally(identityKey: state.facts.identityKey)
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
                cursor.withCurrent { _, record in
                    tally.take(record, key)
                    guard keepsOutcomes else { return }
                    let end = LoggedEnd(confirmed: item, in: batch)
                    if isPlain { return outcomes.append(end, of: record, key) }
                    outcomes.append(confirmed: end, of: record, key, in: batch)
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

extension LoggedEnd {
    /// An acknowledgement of which nothing more is known, as nearly all are.
    @inline(__always)
    fileprivate init(confirmed item: Acknowledgement, in batch: borrowing SettlementBatch) {
        self.init(
            code: OutcomeCode.confirmed, settledAt: batch.settledAt.milliseconds,
            sentAt: item.sentAgo.time(before: batch.settledAt)?.milliseconds, attempts: 1)
    }
}

extension OutcomeAppender {
    /// Adds an acknowledgement with what its batch says of it beside.
    fileprivate func append(
        confirmed end: LoggedEnd, of record: Span<UInt8>, _ key: EntryKey, in batch: SettlementBatch
    ) {
        let detail = batch.details[key.uid]
        var end = end
        if let sentAt = detail?.sentAgo.time(before: batch.settledAt) { end.sentAt = sentAt.milliseconds }
        if detail?.isAttempt == false { end.attempts = 0 }
        append(
            end, of: record, key, LoggedParticulars(uniqueID: detail?.uniqueID, keepsPayload: batch.keepsPayloads))
    }
}
