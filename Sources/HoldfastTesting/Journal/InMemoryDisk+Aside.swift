internal import Holdfast

/// What silence has confirmed: put aside, recalled by a late error, confirmed when its time is over.
extension InMemoryDisk {
    /// - Parameter ended: the Producer of the entry is added: it waits for it no more.
    /// - Returns: whether the entry was unconfirmed.
    mutating func putAside(_ key: EntryKey, _ batch: SettlementBatch, ended: inout Set<ProducerID>) -> Bool {
        let taken = changeLane(key.lane) { $0.entries.remove(key.uid) ?? $0.deferred.remove(key.uid)?.record }
        guard let taken, let record = taken else { return false }
        usedBytes -= record.packed.count
        changeProducer(record.producer) { $0.unconfirmed -= 1 }
        ended.insert(record.producer)
        aside.insert(
            AsideTable.Entry(since: batch.settledAt, keepsOutcome: batch.keepsOutcomes, record: record), for: key.uid)
        return true
    }

    /// - Returns: whether the entry is unconfirmed now.
    mutating func recall(_ key: EntryKey, due: WallTime?, possiblySent: Bool) -> Bool {
        guard var record = aside.remove(key.uid)?.record else {
            return quarantined[key.uid] == nil && record(of: key) != nil
        }
        record.isPossiblySent = record.isPossiblySent || possiblySent
        usedBytes += record.packed.count
        changeProducer(record.producer) { $0.unconfirmed += 1 }
        _ = changeLane(key.lane) { lane in
            if let due {
                lane.deferred.insert(
                    DeferredTable.Entry(due: due, reason: .neverProcessed, record: record), for: key.uid)
            } else {
                lane.entries.insert(record, for: key.uid)
            }
        }
        return true
    }

    mutating func confirmAside(_ uids: [UID]) {
        for uid in uids {
            guard let entry = aside.remove(uid) else { continue }
            let record = entry.record
            totals.add(.confirmed)
            changeProducer(record.producer) { $0.totals.add(.confirmed) }
            endNewest(uid, record, .confirmed)
            if let identity = record.identity, identities[identity]?.uid == uid {
                identities[identity]?.outcome = .confirmed
            }
            if entry.keepsOutcome {
                log(uid, record, .confirmed, cause: nil, SettlementBatch(settledAt: entry.since))
            }
        }
    }

    /// - Returns: how many were confirmed.
    mutating func trimAside(_ bounds: TrimBounds) -> Int {
        let before = aside.count
        let over = aside.all.filter { since, _ in
            bounds.asideBefore.map { since < $0 } ?? false || bounds.asideAfter.map { since > $0 } ?? false
        }
        confirmAside(over.map(\.uid))
        if let greatest = bounds.greatestAside { confirmAside(aside.oldest(aside.count - greatest)) }
        return before - aside.count
    }
}
