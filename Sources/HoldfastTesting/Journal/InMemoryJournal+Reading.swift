package import Holdfast

extension InMemoryJournal {
    /// The bytes at which a batch of entries is full.
    private static let greatestBatchByteCount = 1 << 20

    func read<R>(_ body: (InMemoryDisk) -> R) throws(JournalError) -> R {
        try state.withLock { state throws(JournalError) in
            if state.isClosed { throw Self.closedError }
            if let failure = state.broken ?? state.readFailure { throw failure }
            return body(state.disk)
        }
    }

    package func unconfirmed(
        _ lane: LaneID, after: UID, through: UID, limit: Int
    ) throws(JournalError) -> EntryBatch {
        try read { disk in
            Self.batch(disk.lane(lane)?.entries.range(after: after, through: through, limit: limit) ?? [])
        }
    }

    package func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch {
        try read { disk in
            guard let entries = disk.lane(lane)?.entries else { return .empty }
            return Self.batch(uids.compactMap { uid in entries[uid].map { (uid, $0) } }, greatestByteCount: .max)
        }
    }

    private static func batch(
        _ records: [(uid: UID, value: InMemoryDisk.Record)], greatestByteCount: Int = greatestBatchByteCount
    ) -> EntryBatch {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        var unreadable: [UnreadableEntry] = []
        for (uid, record) in records {
            if let fault = record.fault {
                unreadable.append(UnreadableEntry(uid: uid, fault: fault))
                continue
            }
            if bytes.count >= greatestByteCount { break }
            let start = bytes.count
            bytes += record.packed
            items.append(
                EntryBatch.Item(
                    uid: uid, attempts: record.attempts, isPossiblySent: record.isPossiblySent,
                    isMoved: record.isMoved, range: start..<bytes.count))
        }
        return EntryBatch(bytes: bytes, items: items, unreadable: unreadable)
    }

    package func nextDue(_ lane: LaneID, after: WallTime?) throws(JournalError) -> WallTime? {
        try read { $0.lane(lane)?.deferred.nextDue(after: after) }
    }

    package func newest(_ key: NewestKey) throws(JournalError) -> NewestEntries? { try read { $0.newest[key] } }

    package var scheduledCount: Int {
        state.withLock { state in state.disk.lanes.reduce(0) { $0 + $1.lane.deferred.scheduledCount } }
    }

    package var heldByTagCount: Int {
        state.withLock { state in state.disk.lanes.reduce(0) { $0 + $1.lane.deferred.heldCount } }
    }

    package func heldCount(_ lane: LaneID) -> Int { state.withLock { $0.disk.lane(lane)?.deferred.heldCount ?? 0 } }

    package func deferredCount(_ lane: LaneID, dueAt due: WallTime) throws(JournalError) -> Int {
        try read { $0.lane(lane)?.deferred.count(dueAt: due) ?? 0 }
    }

    package func depth(_ lane: LaneID) -> Int { state.withLock { $0.disk.lane(lane)?.depth ?? 0 } }

    package func backlog(of producer: ProducerID) -> Int {
        state.withLock { $0.disk.producer(producer)?.unconfirmed ?? 0 }
    }

    package func producers() throws(JournalError) -> [ProducerStatus] {
        try read { disk in
            disk.producers.enumerated().map { index, producer in
                ProducerStatus(
                    id: ProducerID(rawValue: UInt16(index + 1)), name: producer.name,
                    unconfirmed: producer.unconfirmed, totals: producer.totals)
            }
        }
    }

    package func fate(of uid: UID) throws(JournalError) -> EntryFate? {
        try read { disk in
            for (_, lane) in disk.lanes {
                if let record = lane.entries[uid] {
                    return .unconfirmed(
                        lane.key, attempts: Int(record.attempts),
                        possiblySent: InMemoryDisk.isPossiblySent(uid, record, in: lane))
                }
                if let entry = lane.deferred[uid], let time = ScheduledPlace.time(of: entry.due) {
                    return .scheduled(lane.key, for: time, attempts: Int(entry.record.attempts))
                }
                if let entry = lane.deferred[uid] {
                    return .deferred(
                        lane.key, until: entry.due, attempts: Int(entry.record.attempts), reason: entry.reason)
                }
            }
            if let aside = disk.aside[uid], let key = disk.lane(aside.record.lane)?.key {
                return .aside(key, since: aside.since)
            }
            if let found = disk.quarantined[uid], let lane = disk.lane(found.record.lane) {
                return .quarantined(lane.key, possiblySent: found.isPossiblySent)
            }
            if let outcome = disk.outcomes[uid] { return .settled(outcome.terminal) }
            if let rejection = disk.rejections[uid] { return .settled(.rejected(rejection.cause.reason)) }
            let remembered = disk.identities.values.first { $0.uid == uid }
            return remembered?.outcome.map { outcome in .settled(outcome) }
        }
    }

    package var outcomeLog: OutcomeLogFigures { state.withLock { $0.disk.outcomes.figures } }

    package var outcomeReaders: [OutcomeReader] { state.withLock { $0.disk.outcomes.readers } }

    package func outcomes(after cursor: OutcomeCursor, limit: Int) throws(JournalError) -> OutcomePage {
        try read { $0.outcomes.page(after: cursor, limit: limit) }
    }

    package func findOutcomes(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int, mostBytes: Int
    ) throws(JournalError) -> OutcomePage {
        try read { $0.outcomes.find(query, before: before, limit: limit) }
    }

    package func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection] {
        try read { disk in
            let readable = disk.rejections.range(after: after).lazy.filter { $0.value.record.fault == nil }
            return readable.prefix(limit).compactMap { uid, rejection in
                rejection.record.notification.map { notification in
                    Rejection(
                        uid: uid, cause: rejection.cause, attempts: Int(rejection.record.attempts),
                        producer: disk.producer(rejection.record.producer)?.name ?? "",
                        acceptedAt: rejection.record.acceptedAt ?? rejection.cause.rejectedAt,
                        lane: disk.lane(rejection.record.lane)?.key, notification: notification)
                }
            }
        }
    }

    package func note(_ name: String) throws(JournalError) -> [UInt8]? { try read { $0.notes[name] } }

    package func status() throws(JournalError) -> JournalStatus {
        try read { disk in
            var status = JournalStatus(
                rejections: disk.rejections.count, blacklist: disk.blacklist.count, nextUID: UID(disk.nextUID),
                totals: disk.totals, usedBytes: disk.usedBytes, limitBytes: .max, outcomes: disk.outcomes.count,
                identities: disk.identities.count, aside: disk.aside.count, quarantined: disk.quarantined.count)
            var quarantined: [LaneID: Int] = [:]
            for (_, found) in disk.quarantined.all { quarantined[found.record.lane, default: 0] += 1 }
            for (id, lane) in disk.lanes {
                status.unconfirmed += lane.depth
                let scheduled = lane.deferred.scheduledCount
                status.deferred += lane.deferred.count - scheduled
                status.scheduled += scheduled
                for (uid, record) in lane.entries.all {
                    if InMemoryDisk.isPossiblySent(uid, record, in: lane) { status.possiblySent += 1 }
                }
                for (_, entry) in lane.deferred.all {
                    if entry.record.isPossiblySent { status.possiblySent += 1 }
                }
                status.lanes.append(
                    JournalStatus.Lane(
                        key: lane.key, id: id, unconfirmed: lane.depth, deferred: lane.deferred.count - scheduled,
                        scheduled: scheduled, mark: lane.mark, state: lane.state, quarantined: quarantined[id] ?? 0,
                        heldByTag: lane.deferred.heldCount))
            }
            return status
        }
    }
}
