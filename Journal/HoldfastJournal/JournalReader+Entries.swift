public import Holdfast
import HoldfastLMDB

extension JournalReader {
    /// Entries read in one snapshot.
    private static let pageCount = 2000

    /// Entries of all lanes, deferred ones and rejections, in UID order, from the first above `after`.
    ///
    /// Fewer than `limit` are returned only at the end, or before a damaged record.
    ///
    /// - Parameter states: which to list; nil for all.
    /// - Throws: `damaged`, naming lane and UID, when the very first of them is.
    public func entries(
        after: UID = .none, limit: Int, states: Set<JournalEntry.StateKind>? = nil
    ) throws(JournalError) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        var last = after
        while entries.count < limit {
            let wanted = min(limit - entries.count, Self.pageCount)
            let choice = EntryChoice(after: last, limit: wanted, states: states ?? Set(JournalEntry.StateKind.allCases))
            let page = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try EntryPage(choice, store.tables, snapshot)
            }
            let lanes = try page.lanes(in: directory)
            for row in page.rows {
                do throws(JournalError) {
                    entries.append(try row.entry(lanes, in: directory))
                } catch {
                    if entries.isEmpty { throw error }
                    return entries
                }
            }
            guard page.rows.count == wanted, let end = page.rows.last else { break }
            last = UID(end.uid)
        }
        return entries
    }

    /// The entry of that UID, wherever it lies; nil when it is settled, or never was.
    public func entry(_ uid: UID) throws(JournalError) -> JournalEntry? {
        guard uid > .none else { return nil }
        return try entries(after: UID(uid.rawValue - 1), limit: 1).first.flatMap { entry in
            entry.uid == uid ? entry : nil
        }
    }
}

/// Which entries are wanted.
private struct EntryChoice {
    let after: UID
    let limit: Int
    let states: Set<JournalEntry.StateKind>

    /// The UIDs to look at in a lane's table of entries; nil when there are none. The mark divides the two states, but for
    /// records above it that say of themselves that they are possibly sent.
    func range(_ lane: LaneRecord) -> ClosedRange<UInt64>? {
        var (low, high) = (after.rawValue, UInt64.max)
        guard low < .max else { return nil }
        switch (states.contains(.possiblySent), states.contains(.neverSent)) {
        case (false, false): return nil
        case (true, false): high = lane.flaggedEntries > 0 ? .max : lane.mark
        case (false, true): low = max(low, lane.mark)
        case (true, true): break
        }
        return low < high ? (low + 1)...high : nil
    }

    func wants(_ record: Span<UInt8>, uid: UInt64, mark: UInt64) -> Bool {
        let flagged = EntryRecord.uncheckedHead(record).flags.contains(.possiblySent)
        return states.contains(uid <= mark || flagged ? .possiblySent : .neverSent)
    }
}

/// One entry's bytes, copied out.
private struct EntryRow {
    enum Place {
        case entries
        case deferred(Int64)
        case rejections
    }

    let uid: UInt64
    let lane: UInt32
    let place: Place
    var bytes: [UInt8] = []
}

/// The next entries in UID order, from one snapshot: of each table as many keys as are wanted, of these the least, and of
/// those the records.
private struct EntryPage {
    private(set) var rows: [EntryRow] = []
    private let found: Result<[LaneRecord], EntryRecord.Fault>

    init(_ choice: EntryChoice, _ tables: EntriesStore.Tables, _ snapshot: borrowing Snapshot) throws(LMDBError) {
        found = try EntriesStore.lanes(in: snapshot, tables)
        guard case .success(let lanes) = found, choice.after < .max else { return }
        let next = choice.after.rawValue + 1
        for (index, lane) in lanes.enumerated() {
            let id = UInt32(index) + 1
            if let range = choice.range(lane) {
                try collect(tables.entries, lane: id, range, choice.limit, snapshot) { uid, record in
                    choice.wants(record, uid: uid, mark: lane.mark) ? .entries : nil
                }
            }
            if choice.states.contains(.deferred) {
                try collect(tables.deferredIndex, lane: id, next...UInt64.max, choice.limit, snapshot) { _, value in
                    .deferred(value.count == 8 ? Int64(bitPattern: value.load(UInt64.self, at: 0)) : 0)
                }
            }
        }
        if choice.states.contains(.rejected) { try collectRejections(tables.rejections, next, choice.limit, snapshot) }
        rows.sort { lhs, rhs in lhs.uid < rhs.uid }
        rows.removeLast(max(0, rows.count - choice.limit))
        for index in rows.indices { rows[index].bytes = try Self.bytes(rows[index], tables, snapshot) }
    }

    func lanes(in directory: String) throws(JournalError) -> [LaneRecord] {
        do throws(EntryRecord.Fault) {
            return try found.get()
        } catch {
            throw error.error(what: "a lane's record", in: directory)
        }
    }

    private mutating func collect(
        _ table: Table, lane: UInt32, _ range: ClosedRange<UInt64>, _ limit: Int, _ snapshot: borrowing Snapshot,
        place: (_ uid: UInt64, _ value: Span<UInt8>) -> EntryRow.Place?
    ) throws(LMDBError) {
        var more: [EntryRow] = []
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try cursor.seek(atLeast: Key.entry(lane, range.lowerBound).span)
            while found, more.count < limit {
                var isOver = false
                cursor.withCurrent { key, value in
                    let uid = key.bigEndian64(at: 4)
                    isOver = key.bigEndian32(at: 0) != lane || uid > range.upperBound
                    if !isOver, let place = place(uid, value) {
                        more.append(EntryRow(uid: uid, lane: lane, place: place))
                    }
                }
                if isOver { break }
                found = try cursor.next()
            }
        }
        rows += more
    }

    private mutating func collectRejections(
        _ table: Table, _ start: UInt64, _ limit: Int, _ snapshot: borrowing Snapshot
    ) throws(LMDBError) {
        var more: [EntryRow] = []
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try cursor.seek(atLeast: Key.uid(start).span)
            while found, more.count < limit {
                cursor.withCurrent { key, _ in
                    more.append(EntryRow(uid: key.bigEndian64(at: 0), lane: 0, place: .rejections))
                }
                found = try cursor.next()
            }
        }
        rows += more
    }

    private static func bytes(
        _ row: EntryRow, _ tables: EntriesStore.Tables, _ snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [UInt8] {
        switch row.place {
        case .entries:
            try snapshot.get(Key.entry(row.lane, row.uid).span, in: tables.entries) ?? []
        case .deferred(let due):
            try snapshot.get(Key.deferred(row.lane, due: due, row.uid).span, in: tables.deferred) ?? []
        case .rejections:
            try snapshot.get(Key.uid(row.uid).span, in: tables.rejections) ?? []
        }
    }
}

extension EntryRow {
    func entry(_ lanes: [LaneRecord], in directory: String) throws(JournalError) -> JournalEntry {
        do throws(EntryRecord.Fault) {
            return try entry(lanes)
        } catch {
            throw error.error(lane: lane, uid: uid, in: directory)
        }
    }

    private func entry(_ lanes: [LaneRecord]) throws(EntryRecord.Fault) -> JournalEntry {
        switch place {
        case .entries:
            guard let mark = lanes[checked: lane]?.mark else { throw .damaged("its lane is unknown") }
            let flagged = EntryRecord.uncheckedHead(bytes.span).flags.contains(.possiblySent)
            return try entry(bytes, lanes, lane, uid <= mark || flagged ? .possiblySent : .neverSent)
        case .deferred(let due):
            return try entry(bytes, lanes, lane, .deferred(until: WallTime(milliseconds: due)))
        case .rejections:
            let rejection = try RejectionRecord.read(bytes.span).get()
            let record = Array(bytes[rejection.record])
            // The key has no lane; the record says which.
            let lane = EntryRecord.uncheckedHead(record.span).lane
            return try entry(record, lanes, lane, .rejected(rejection.cause))
        }
    }

    private func entry(
        _ bytes: [UInt8], _ lanes: [LaneRecord], _ lane: UInt32, _ state: JournalEntry.State
    ) throws(EntryRecord.Fault) -> JournalEntry {
        let record = try EntryRecord.read(bytes.span, lane: lane, uid: uid).get()
        guard let key = lanes[checked: lane]?.key else { throw .damaged("its lane is unknown") }
        let fields = try record.fields(in: bytes)
        return JournalEntry(
            uid: UID(uid), lane: key, state: state, attempts: Int(record.head.attempts),
            acceptedAt: fields.acceptedAt,
            lastReason: record.reason.isEmpty
                ? nil : Reason(rawValue: String(decoding: bytes[record.reason], as: UTF8.self)),
            notification: PushNotification(fields, in: bytes))
    }
}

extension [LaneRecord] {
    /// The lane of that number, which runs from 1.
    fileprivate subscript(checked lane: UInt32) -> LaneRecord? {
        lane >= 1 && lane <= count ? self[Int(lane) - 1] : nil
    }
}
