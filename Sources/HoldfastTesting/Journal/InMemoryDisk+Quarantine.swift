public import Holdfast

/// Records that cannot be read.
extension InMemoryDisk {
    /// An entry in quarantine.
    struct Quarantined: Sendable {
        var record: Record
        var fault: RecordFault
        var isPossiblySent: Bool
        var at: WallTime
    }

    /// - Parameter ended: the Producers of the entries that were moved are added.
    mutating func quarantine(_ order: QuarantineOrder, ended: inout Set<ProducerID>) -> [UID] {
        var moved: [UID] = []
        for item in order.items {
            let taken = changeLane(order.lane) { $0.entries.remove(item.entry.uid) }
            guard let taken, let record = taken else { continue }
            let isPossiblySent = item.isPossiblySent || record.isPossiblySent
            quarantined.insert(
                Quarantined(record: record, fault: item.entry.fault, isPossiblySent: isPossiblySent, at: order.at),
                for: item.entry.uid)
            changeProducer(record.producer) { $0.unconfirmed -= 1 }
            ended.insert(record.producer)
            moved.append(item.entry.uid)
        }
        return moved
    }

    mutating func retryQuarantined(_ uids: [UID], now: WallTime) -> [UID] {
        uids.filter { uid in
            guard var found = quarantined[uid], found.record.fault == nil, found.record.notification != nil else {
                return false
            }
            found.record.isPossiblySent = found.isPossiblySent
            let entry = DeferredTable.Entry(due: now, reason: .neverProcessed, record: found.record)
            guard changeLane(found.record.lane, { $0.deferred.insert(entry, for: uid) }) != nil else { return false }
            changeProducer(found.record.producer) { $0.unconfirmed += 1 }
            return quarantined.remove(uid) != nil
        }
    }

    /// Ends a quarantined entry.
    ///
    /// - Returns: whether it was there.
    mutating func endQuarantined(
        _ key: EntryKey, _ terminal: TerminalOutcome, cause: RejectionCause? = nil, _ batch: SettlementBatch
    ) -> Bool {
        guard quarantined[key.uid]?.record.lane == key.lane, let found = quarantined.remove(key.uid) else {
            return false
        }
        usedBytes -= found.record.packed.count
        totals.add(terminal)
        changeProducer(found.record.producer) { $0.totals.add(terminal) }
        noteEnd(of: key.uid, found.record, terminal, cause: cause, batch)
        return true
    }
}

extension InMemoryJournal {
    package func quarantine(
        _ order: QuarantineOrder, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        enqueue(.quarantine(order, completion))
    }

    package var quarantinedCount: Int { state.withLock { $0.disk.quarantined.count } }

    package var asideCount: Int { state.withLock { $0.disk.aside.count } }

    package func quarantined(after: UID, limit: Int) throws(JournalError) -> [QuarantinedEntry] {
        try read { disk in
            disk.quarantined.range(after: after, limit: limit).map { uid, found in
                QuarantinedEntry(
                    uid: uid, lane: disk.lane(found.record.lane)?.key,
                    producer: disk.producer(found.record.producer)?.name ?? "", fault: found.fault,
                    isPossiblySent: found.isPossiblySent, quarantinedAt: found.at, record: found.record.packed)
            }
        }
    }

    package func retryQuarantined(
        _ uids: [UID], now: WallTime, completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    ) {
        enqueue(.retryQuarantined(uids, now, completion))
    }

    /// Makes a recipient's record of the blacklist unreadable; `nil` makes it readable again.
    public func damageBlacklist(_ recipient: Recipient, as fault: RecordFault?) {
        state.withLock { $0.blacklistFaults[recipient] = fault }
    }

    /// Makes the record of an entry unreadable wherever it lies, rejections included; `nil` makes it readable again.
    public func damage(_ uid: UID, as fault: RecordFault?) {
        state.withLock { state in
            for (id, _) in state.disk.lanes {
                _ = state.disk.changeLane(id) { lane in
                    if var record = lane.entries[uid] {
                        record.fault = fault
                        lane.entries.insert(record, for: uid)
                    }
                    if var entry = lane.deferred.remove(uid) {
                        entry.record.fault = fault
                        lane.deferred.insert(entry, for: uid)
                    }
                }
            }
            if var rejection = state.disk.rejections[uid] {
                rejection.record.fault = fault
                state.disk.rejections.insert(rejection, for: uid)
            }
            if var found = state.disk.quarantined[uid] {
                found.record.fault = fault
                state.disk.quarantined.insert(found, for: uid)
            }
        }
    }

    /// Changes a byte of an entry's packed notification, which no checksum notices.
    public func setPackedByte(of uid: UID, at offset: Int, to byte: UInt8) throws(JournalError) {
        let isDone = state.withLock { state in
            for (id, lane) in state.disk.lanes {
                guard var record = lane.entries[uid], record.packed.indices.contains(offset) else { continue }
                record.packed[offset] = byte
                _ = state.disk.changeLane(id) { $0.entries.insert(record, for: uid) }
                return true
            }
            return false
        }
        if !isDone { throw JournalError(.notFound, "no unconfirmed entry \(uid) has a byte \(offset)") }
    }
}
