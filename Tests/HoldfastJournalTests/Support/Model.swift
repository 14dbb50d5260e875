import Holdfast

/// A journal as simple as can be: dictionaries.
struct Model {
    struct Entry: Equatable {
        var number: Int
        var producer: ProducerID
        var attempts: UInt16 = 0
        var isPossiblySent = false
        /// A late error brought it back, and it was not deferred since.
        var isRecalled = false
    }

    struct Aside {
        let since: WallTime
        let keepsOutcome: Bool
        let lane: LaneID
        let entry: Entry
    }

    struct Remembered: Equatable {
        var uid: UInt64
        var acceptedAt: Int64
        var outcome: TerminalOutcome?
    }

    var next: UInt64 = 1
    var entries: [LaneID: [UInt64: Entry]] = [:]
    var deferred: [LaneID: [UInt64: (due: Int64, entry: Entry)]] = [:]
    var aside: [UInt64: Aside] = [:]
    var rejections: [UInt64: (cause: RejectionCause, entry: Entry)] = [:]
    var outcomes: [UInt64: (terminal: TerminalOutcome, settledAt: WallTime, producer: ProducerID)] = [:]
    var identities: [Identity: Remembered] = [:]
    var totals = JournalTotals()
    var producerTotals: [ProducerID: JournalTotals] = [:]
    var wallTime: WallTime?

    func unconfirmed(_ producer: ProducerID) -> Int {
        entries.values.reduce(0) { sum, lane in sum + lane.values.count { $0.producer == producer } }
            + deferred.values.reduce(0) { sum, lane in sum + lane.values.count { $0.entry.producer == producer } }
    }

    mutating func append(_ items: [(LaneID, Int)], of submission: Submission) -> Appended {
        let first = UID(next)
        wallTime = submission.earliestTime ?? wallTime
        let named = Dictionary(uniqueKeysWithValues: submission.identities.map { ($0.index, $0.identity) })
        var repeats: [Appended.Repeat] = []
        for (index, (lane, number)) in items.enumerated() {
            if let identity = named[index] {
                if let known = identities[identity] {
                    repeats.append(Appended.Repeat(index: index, uid: UID(known.uid), outcome: known.outcome))
                    continue
                }
                identities[identity] = Remembered(uid: next, acceptedAt: submission.acceptedAt.milliseconds)
            }
            entries[lane, default: [:]][next] = Entry(number: number, producer: submission.producer)
            next += 1
        }
        let count = UInt64(items.count - repeats.count)
        totals.accepted += count
        producerTotals[submission.producer, default: JournalTotals()].accepted += count
        return Appended(first: first, repeats: repeats)
    }

    private mutating func take(_ key: EntryKey) -> Entry? {
        entries[key.lane]?.removeValue(forKey: key.uid.rawValue)
            ?? deferred[key.lane]?.removeValue(forKey: key.uid.rawValue)?.entry
    }

    private mutating func end(_ key: EntryKey, _ terminal: TerminalOutcome, _ batch: SettlementBatch) -> Entry? {
        guard let entry = take(key) else { return nil }
        Self.count(terminal, &totals)
        Self.count(terminal, &producerTotals[entry.producer, default: JournalTotals()])
        for (identity, remembered) in identities where remembered.uid == key.uid.rawValue {
            identities[identity]?.outcome = terminal
        }
        if batch.keepsOutcomes { outcomes[key.uid.rawValue] = (terminal, batch.settledAt, entry.producer) }
        return entry
    }

    private static func count(_ terminal: TerminalOutcome, _ totals: inout JournalTotals) {
        switch terminal {
        case .confirmed: totals.confirmed += 1
        case .rejected: totals.rejected += 1
        case .expired: totals.expired += 1
        case .unknown: totals.unknown += 1
        case .withdrawn: totals.withdrawn += 1
        case .superseded: totals.superseded += 1
        }
    }

    mutating func settle(_ batch: SettlementBatch) -> SettlementReport {
        var report = SettlementReport()
        wallTime = batch.earliestTime ?? wallTime
        totals.possibleDuplicates += UInt64(batch.possibleDuplicates)
        for key in batch.acknowledged.map(\.key) {
            let settled = end(key, .confirmed, batch) != nil
            report.settled += settled ? 1 : 0
            report.gone += settled ? 0 : 1
        }
        for key in batch.quieted {
            guard let entry = take(key) else {
                report.gone += 1
                continue
            }
            aside[key.uid.rawValue] = Aside(
                since: batch.settledAt, keepsOutcome: batch.keepsOutcomes, lane: key.lane, entry: entry)
            report.settled += 1
        }
        for settlement in batch.others {
            let isUnknown = isPossiblySent(settlement.key)
            let settled = settle(settlement, batch)
            if settled, !isUnknown, case .withdraw = settlement.kind { report.withdrawn += 1 }
            report.settled += settled ? 1 : 0
            report.gone += settled ? 0 : 1
        }
        return report
    }

    private mutating func settle(_ settlement: Settlement, _ batch: SettlementBatch) -> Bool {
        let key = settlement.key
        switch settlement.kind {
        case .deferUntil(let due, let attempts, _, let possiblySent):
            guard var entry = entries[key.lane]?.removeValue(forKey: key.uid.rawValue) else { return false }
            entry.attempts = attempts
            entry.isRecalled = false
            entry.isPossiblySent = entry.isPossiblySent || possiblySent
            deferred[key.lane, default: [:]][key.uid.rawValue] = (due.milliseconds, entry)
            return true
        case .reject(let cause):
            guard let entry = end(key, .rejected(cause.reason), batch) else { return false }
            rejections[key.uid.rawValue] = (cause, entry)
            return true
        case .expire: return end(key, .expired, batch) != nil
        case .unknown, .withdrawSent: return end(key, .unknown, batch) != nil
        case .withdraw: return end(key, isPossiblySent(key) ? .unknown : .withdrawn, batch) != nil
        case .supersede: return end(key, isPossiblySent(key) ? .unknown : .superseded, batch) != nil
        case .move(let lane, let due, _, let possiblySent):
            guard lane != key.lane, var entry = entries[key.lane]?.removeValue(forKey: key.uid.rawValue) else {
                return false
            }
            entry.isPossiblySent = entry.isPossiblySent || possiblySent
            deferred[lane, default: [:]][key.uid.rawValue] = (due.milliseconds, entry)
            return true
        case .recall(let due, let possiblySent):
            guard aside[key.uid.rawValue]?.lane == key.lane,
                var entry = aside.removeValue(forKey: key.uid.rawValue)?.entry
            else { return entries[key.lane]?[key.uid.rawValue] != nil || deferred[key.lane]?[key.uid.rawValue] != nil }
            entry.isPossiblySent = entry.isPossiblySent || possiblySent
            if let due {
                entry.isRecalled = true
                deferred[key.lane, default: [:]][key.uid.rawValue] = (due.milliseconds, entry)
            } else {
                entries[key.lane, default: [:]][key.uid.rawValue] = entry
            }
            return true
        }
    }

    /// Confirms those that have been aside for too long, or are too many: the oldest first.
    private mutating func trimAside(_ bounds: TrimBounds) -> Int {
        var over: [UInt64] = []
        for (uid, entry) in aside {
            let isOld = bounds.asideBefore.map { entry.since < $0 } ?? false
            if isOld || bounds.asideAfter.map({ entry.since > $0 }) ?? false { over.append(uid) }
        }
        let rest = aside.filter { !over.contains($0.key) }.sorted {
            ($0.value.since, $0.value.lane, $0.key) < ($1.value.since, $1.value.lane, $1.key)
        }
        over += rest.dropLast(bounds.greatestAside ?? .max).map(\.key)
        for uid in over {
            guard let old = aside.removeValue(forKey: uid) else { continue }
            Self.count(.confirmed, &totals)
            Self.count(.confirmed, &producerTotals[old.entry.producer, default: JournalTotals()])
            for (identity, remembered) in identities where remembered.uid == uid {
                identities[identity]?.outcome = .confirmed
            }
            if old.keepsOutcome { outcomes[uid] = (.confirmed, old.since, old.entry.producer) }
        }
        return over.count
    }

    /// By its record's word.
    private func isPossiblySent(_ key: EntryKey) -> Bool {
        let uid = key.uid.rawValue
        return (entries[key.lane]?[uid] ?? deferred[key.lane]?[uid]?.entry)?.isPossiblySent == true
    }

    mutating func promote(_ lane: LaneID, now: Int64, limit: Int) -> [UID] {
        let due = (deferred[lane] ?? [:]).filter { $0.value.due <= now }
            .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.prefix(limit)
        for (uid, value) in due {
            deferred[lane]?[uid] = nil
            entries[lane, default: [:]][uid] = value.entry
        }
        return due.map { UID($0.key) }
    }

    mutating func trim(_ bounds: TrimBounds) -> Trimmed {
        let before = (rejections.count, identities.count)
        if let time = bounds.rejectionsBefore { rejections = rejections.filter { $0.value.cause.rejectedAt >= time } }
        for uid in rejections.keys.sorted().dropLast(bounds.greatestRejections ?? .max) { rejections[uid] = nil }
        // From the oldest on, until one is young enough.
        var oldest = identities.sorted { $0.value.uid < $1.value.uid }[...]
        if let time = bounds.identitiesBefore?.milliseconds {
            oldest = oldest.drop { $0.value.acceptedAt < time }
        }
        oldest = oldest.suffix(bounds.greatestIdentities ?? .max)
        identities = Dictionary(uniqueKeysWithValues: oldest.map { ($0.key, $0.value) })
        return Trimmed(
            rejections: before.0 - rejections.count, identities: before.1 - identities.count, aside: trimAside(bounds))
    }

    /// - Parameter marks: each lane's send mark.
    func fate(_ uid: UInt64, _ keys: [LaneID: LaneKey], marks: [LaneID: UID]) -> EntryFate? {
        for (lane, key) in keys {
            if let entry = entries[lane]?[uid] {
                let isCovered = uid <= marks[lane]?.rawValue ?? 0
                return .unconfirmed(
                    key, attempts: Int(entry.attempts), possiblySent: entry.isPossiblySent || isCovered)
            }
            if let (due, entry) = deferred[lane]?[uid] {
                return .deferred(
                    key, until: WallTime(milliseconds: due), attempts: Int(entry.attempts),
                    reason: entry.isRecalled ? .neverProcessed : .serviceUnavailable)
            }
        }
        if let entry = aside[uid], let key = keys[entry.lane] { return .aside(key, since: entry.since) }
        if let rejection = rejections[uid] { return .settled(.rejected(rejection.cause.reason)) }
        if let outcome = outcomes[uid] { return .settled(outcome.terminal) }
        return identities.values.first { $0.uid == uid }?.outcome.map { .settled($0) }
    }
}

/// A generator that can be started again from a number.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
