package import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// Unconfirmed entries of the lane above `after`, ascending.
    package func unconfirmed(_ lane: LaneID, after: UID, through: UID, limit: Int) throws(JournalError) -> EntryBatch {
        guard limit > 0, after < through else { return .empty }
        return try readBatch { (collector, snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.withCursor(tables.entries) { (cursor: inout Cursor) throws(LMDBError) in
                let start = Key.entry(lane.rawValue, after.rawValue + 1)
                var found = try cursor.seek(atLeast: start.span)
                while found, collector.wantsMore(limit: limit) {
                    var isOver = false
                    cursor.withCurrent { key, record in
                        let uid = key.bigEndian64(at: 4)
                        // A UID at or below `after`, or below the one before it, lies in an older page. Reading on behind it
                        // would come back here.
                        let isBehind = uid <= max(after, collector.items.last?.uid ?? .none).rawValue
                        isOver = key.bigEndian32(at: 0) != lane.rawValue || uid > through.rawValue || isBehind
                        if !isOver { collector.take(record, lane: lane.rawValue, uid: uid) }
                    }
                    if isOver { break }
                    found = try cursor.next()
                }
            }
        }
    }

    /// The unconfirmed entries of the lane with these UIDs.
    package func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch {
        guard !uids.isEmpty else { return .empty }
        return try readBatch { (collector, snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.withCursor(tables.entries) { (cursor: inout Cursor) throws(LMDBError) in
                for uid in uids {
                    guard try cursor.find(Key.entry(lane.rawValue, uid.rawValue).span) else { continue }
                    cursor.withCurrent { _, record in collector.take(record, lane: lane.rawValue, uid: uid.rawValue) }
                }
            }
        }
    }

    private func readBatch(
        _ body: (inout BatchCollector, borrowing Snapshot) throws(LMDBError) -> Void
    ) throws(JournalError) -> EntryBatch {
        try checkOpen()
        let collector = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) -> BatchCollector in
            var collector = BatchCollector()
            try body(&collector, snapshot)
            return collector
        }
        return EntryBatch(bytes: collector.bytes, items: collector.items, unreadable: collector.unreadable)
    }

    /// The time at which the lane's next deferred entry is due; `nil` when there is none.
    package func nextDue(_ lane: LaneID, after: WallTime?) throws(JournalError) -> WallTime? {
        try checkOpen()
        guard depths(lane).deferred > 0, after?.milliseconds != .max else { return nil }
        return try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) -> WallTime? in
            try snapshot.withCursor(tables.deferred) { (cursor: inout Cursor) throws(LMDBError) -> WallTime? in
                let start = Key.deferred(lane.rawValue, due: after.map { $0.milliseconds + 1 } ?? .min, 0)
                guard try cursor.seek(atLeast: start.span) else { return nil }
                var due: WallTime?
                cursor.withKey { key in
                    if key.bigEndian32(at: 0) == lane.rawValue { due = WallTime(milliseconds: key.dueTime) }
                }
                return due
            }
        }
    }

    /// The number of unconfirmed entries of the lane, including deferred ones. From memory.
    package func depth(_ lane: LaneID) -> Int {
        let depths = depths(lane)
        return depths.entries + depths.deferred
    }

    /// The open entries of which the newest wins.
    package func newest(_ key: NewestKey) throws(JournalError) -> NewestEntries? {
        try checkOpen()
        guard let table = tables.newest else { return nil }
        let name = NewestRecord.key(key)
        let bytes = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(name.span, in: table)
        }
        return bytes.flatMap { NewestRecord.read($0, key: name) }
    }

    /// The number of scheduled entries. From memory.
    package var scheduledCount: Int { shared.withLock { shared in shared.state.lanes.scheduled } }

    /// The number of entries that pauses of tags hold. From memory.
    package var heldByTagCount: Int { shared.withLock { shared in shared.state.lanes.held } }

    /// The number of the lane's entries that pauses of tags hold. From memory.
    package func heldCount(_ lane: LaneID) -> Int {
        shared.withLock { shared in shared.state[lane.rawValue]?.held ?? 0 }
    }

    /// Counts the lane's entries that are due at exactly this time.
    package func deferredCount(_ lane: LaneID, dueAt due: WallTime) throws(JournalError) -> Int {
        try checkOpen()
        return try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.deferredCount(lane, dueAt: due, in: tables.deferred)
        }
    }

    private func depths(_ lane: LaneID) -> (entries: Int, deferred: Int) {
        shared.withLock { shared in
            let lane = shared.state[lane.rawValue]
            return (lane?.entries ?? 0, lane?.deferred ?? 0)
        }
    }

    /// The blacklist of this journal, or the one that it was opened with.
    package var blacklist: any BlacklistStorage { options.blacklist ?? tokens }

    /// The bytes of a note; `nil` when there is none of this name.
    package func note(_ name: String) throws(JournalError) -> [UInt8]? {
        try checkOpen()
        let key = try NoteRecord.key(of: name)
        let bytes = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(key.span, in: tables.notes)
        }
        guard let bytes else { return nil }
        do throws(EntryRecord.Fault) {
            return try NoteRecord.value(bytes, name: key)
        } catch {
            throw error.error(what: "the note \(name)", in: directory)
        }
    }

    /// Counts the possibly sent entries, in a time proportional to their number. All other figures are in memory.
    package func status() throws(JournalError) -> JournalStatus {
        try checkOpen()
        let (state, figures) = shared.withLock { shared in (shared.state, shared.figures) }
        var status = JournalStatus(state, figures, pageByteCount: pageByteCount, limit: options.limit)
        status.blacklist = blacklist.count
        status.possiblySent = try translated("read", directory) { () throws(LMDBError) in
            try PossiblySent.count(state.lanes.all, in: tables.entries, readers).reduce(0, +)
        }
        if figures.quarantined > 0 {
            let counts = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try QuarantineRow.count(lanes: state.lanes.count, in: snapshot, tables.quarantine)
            }
            for (index, count) in counts.enumerated() { status.lanes[index].quarantined = count }
        }
        return status
    }

    /// The reader that keeps the oldest pages from being reused, in any process; `nil` when none lags.
    package func slowestReader() throws(JournalError) -> ReaderLag? {
        try checkOpen()
        // In a snapshot, so that the environment stays open meanwhile.
        return try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) -> ReaderLag? in
            let newest = try snapshot.environment.info().lastTransaction
            let oldest = try snapshot.environment.readers()
                .compactMap { reader in reader.transaction.map { (reader.process, $0) } }
                .min { lhs, rhs in lhs.1 < rhs.1 }
            guard let (process, transaction) = oldest, transaction < newest else { return nil }
            return ReaderLag(process: process, commits: Int(clamping: newest - transaction))
        }
    }

    // MARK: Access

    func checkOpen() throws(JournalError) {
        try shared.withLock { (shared) throws(JournalError) in try shared.checkOpen(directory) }
    }

    func read<R>(
        _ doing: String, _ body: (borrowing Snapshot) throws(LMDBError) -> R
    ) throws(JournalError) -> R {
        if let failure = options.stepping?.faults.read() { throw failure }
        let result = try translated(doing, directory) { () throws(LMDBError) in try readers.read(body) }
        guard let result else { throw .closed(directory) }
        return result
    }
}
