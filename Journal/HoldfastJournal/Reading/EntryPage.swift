import Holdfast
import HoldfastLMDB

/// One entry's bytes, copied out.
struct EntryRow {
    enum Place {
        case entries
        case deferred(Int64)
        case aside(Int64)
        case rejections
    }

    let uid: UInt64
    /// 0 with a rejection: its key has none.
    let lane: UInt32
    let place: Place
    var bytes: [UInt8] = []
}

/// The next entries in UID order that a filter wants, from one snapshot.
///
/// Each lane's table of entries, its table of deferred ones and the rejections are looked through from the same UID on,
/// each as far as its share of what a snapshot may look at reaches; what lies up to the least of the places where one had
/// to stop is known. So a snapshot ends soon even when a filter finds nothing among millions.
struct EntryPage {
    /// Rows that one snapshot looks at, and bytes that it copies, about.
    private static let greatestLooks = 10_000
    private static let greatestByteCount = 4 << 20
    /// Rows of each table in it, so that many lanes together still get on.
    private static let leastLooks = 64

    private(set) var rows: [EntryRow] = []
    /// Every entry up to this UID was looked at; nil when there are no more.
    private(set) var end: UInt64?
    private let foundLanes: Result<[LaneRecord], EntryRecord.Fault>
    private let foundProducers: Result<[ProducerRecord], EntryRecord.Fault>

    /// - Parameters:
    ///   - after: looks at what is above this.
    ///   - limit: the most rows.
    init(
        _ filter: EntryFilter, after: UInt64, limit: Int, _ tables: EntriesStore.Tables,
        _ snapshot: borrowing Snapshot
    ) throws(LMDBError) {
        foundLanes = try EntriesStore.lanes(in: snapshot, tables)
        foundProducers = try EntriesStore.producers(in: snapshot, tables)
        guard case .success(let lanes) = foundLanes, case .success(let producers) = foundProducers, after < .max else {
            return
        }
        let matcher = EntryMatcher(filter, lanes: lanes, producers: producers.map(\.name))
        let sources = Self.sources(matcher, lanes, after: after, tables)
        let share = Share(
            rows: limit, looks: max(Self.leastLooks, Self.greatestLooks / max(1, sources.count)),
            bytes: Self.greatestByteCount / max(1, sources.count))
        var horizon = UInt64.max
        for source in sources {
            var scan = EntryScan(source, matcher, share)
            try scan.run(through: horizon, snapshot)
            if source.kind == .deferred { try scan.readDeferred(tables.deferred, snapshot) }
            if let stop = scan.stop { horizon = min(horizon, stop) }
            rows += scan.rows
        }
        rows.removeAll { $0.uid > horizon }
        rows.sort { lhs, rhs in lhs.uid < rhs.uid }
        if rows.count > limit {
            rows.removeLast(rows.count - limit)
            horizon = rows.last?.uid ?? horizon
        }
        end = horizon == .max ? nil : horizon
    }

    /// The tables to look through, the fullest first: it has to stop first, and the others need not go beyond.
    private static func sources(
        _ matcher: EntryMatcher, _ lanes: [LaneRecord], after: UInt64, _ tables: EntriesStore.Tables
    ) -> [EntryScan.Source] {
        var sources: [(source: EntryScan.Source, count: Int)] = []
        for (index, lane) in lanes.enumerated() {
            let id = UInt32(index) + 1
            if lane.entries > 0, let range = matcher.entries(of: id, after: after) {
                sources.append((.init(table: tables.entries, lane: id, kind: .entries, range: range), lane.entries))
            }
            if lane.deferred > 0, let range = matcher.deferred(of: id, after: after) {
                sources.append(
                    (.init(table: tables.deferredIndex, lane: id, kind: .deferred, range: range), lane.deferred))
            }
            if let table = tables.aside?.rows, let range = matcher.aside(of: id, after: after) {
                sources.append((.init(table: table, lane: id, kind: .aside, range: range), 0))
            }
        }
        if matcher.filter.states.contains(.rejected) {
            let all = (after + 1)...UInt64.max
            sources.append((.init(table: tables.rejections, lane: nil, kind: .rejections, range: all), 0))
        }
        return sources.sorted { $0.count > $1.count }.map(\.source)
    }

    /// The lanes and the Producers' names as they were in the snapshot.
    func names(in directory: String) throws(JournalError) -> (lanes: [LaneRecord], producers: [String]) {
        var what = "a lane's record"
        do throws(EntryRecord.Fault) {
            let lanes = try foundLanes.get()
            what = "a Producer's record"
            return (lanes, try foundProducers.get().map(\.name))
        } catch {
            throw error.error(what: what, in: directory)
        }
    }
}

/// The share of one table in a page's limits.
struct Share {
    let rows: Int
    let looks: Int
    let bytes: Int
}

/// Looks through one table, as far as its share reaches.
struct EntryScan {
    struct Source {
        enum Kind { case entries, deferred, aside, rejections }

        let table: Table
        /// Nil with the rejections.
        let lane: UInt32?
        let kind: Kind
        let range: ClosedRange<UInt64>

        func seek(_ cursor: inout Cursor, _ uid: UInt64) throws(LMDBError) -> Bool {
            if let lane { return try cursor.seek(atLeast: Key.entry(lane, uid).span) }
            return try cursor.seek(atLeast: Key.uid(uid).span)
        }

        /// The UID of a key; nil when it is another lane's.
        func uid(_ key: Span<UInt8>) -> UInt64? {
            guard let lane else { return key.bigEndian64(at: 0) }
            return key.bigEndian32(at: 0) == lane ? key.bigEndian64(at: 4) : nil
        }
    }

    private let source: Source
    private let matcher: EntryMatcher
    private let share: Share
    private(set) var rows: [EntryRow] = []
    /// Everything up to this UID was looked at; nil when that is all there is.
    private(set) var stop: UInt64?
    private var looks = 0
    private var bytes = 0

    init(_ source: Source, _ matcher: EntryMatcher, _ share: Share) {
        self.source = source
        self.matcher = matcher
        self.share = share
    }

    private var isFull: Bool { looks >= share.looks || rows.count >= share.rows || bytes >= share.bytes }

    mutating func run(through horizon: UInt64, _ snapshot: borrowing Snapshot) throws(LMDBError) {
        let last = min(source.range.upperBound, horizon)
        var next: UInt64? = source.range.lowerBound
        try snapshot.withCursor(source.table) { (cursor: inout Cursor) throws(LMDBError) in
            while stop == nil, let start = next, let wanted = matcher.filter.uids.next(from: start),
                wanted.lowerBound <= last
            {
                next = try look(&cursor, from: wanted.lowerBound, through: min(wanted.upperBound, last))
            }
        }
    }

    /// Looks at one range of UIDs.
    ///
    /// - Returns: where the first row behind it lies; nil when there is none.
    private mutating func look(
        _ cursor: inout Cursor, from first: UInt64, through last: UInt64
    ) throws(LMDBError) -> UInt64? {
        var found = try source.seek(&cursor, first)
        while found {
            var place: UInt64?
            cursor.withCurrent { key, value in
                place = source.uid(key)
                if let uid = place, (first...last).contains(uid) { take(uid, value) }
            }
            // Below the first it is out of order: going on from it, or saying that all up to it was looked at, would never
            // end.
            guard let uid = place, uid >= first else { return nil }
            looks += 1
            if uid > last {
                // Nothing lies between: with many small ranges the gaps are what is looked at.
                if isFull { stop = uid - 1 }
                return uid
            }
            if isFull {
                stop = uid
                return nil
            }
            found = try cursor.next()
        }
        return nil
    }

    private mutating func take(_ uid: UInt64, _ value: Span<UInt8>) {
        guard let lane = source.lane else {
            guard matcher.wants(rejection: value, uid: uid) else { return }
            return append(EntryRow(uid: uid, lane: 0, place: .rejections, bytes: value.array))
        }
        switch source.kind {
        case .deferred:
            let due = value.count == 8 ? Int64(bitPattern: value.load(UInt64.self, at: 0)) : 0
            guard matcher.wants(due: due) else { return }
            append(EntryRow(uid: uid, lane: lane, place: .deferred(due)))
        case .aside:
            let (since, record) = (AsideRecord.unchecked(value).since, AsideRecord.entry(value))
            guard matcher.wants(record.span, lane: lane, uid: uid) else { return }
            append(EntryRow(uid: uid, lane: lane, place: .aside(since), bytes: record))
        case .entries, .rejections:
            guard matcher.wants(waiting: value, lane: lane, uid: uid) else { return }
            append(EntryRow(uid: uid, lane: lane, place: .entries, bytes: value.array))
        }
    }

    private mutating func append(_ row: EntryRow) {
        rows.append(row)
        bytes += row.bytes.count
    }

    /// Reads what the index has named, and keeps what is wanted.
    mutating func readDeferred(_ table: Table, _ snapshot: borrowing Snapshot) throws(LMDBError) {
        let named = rows
        rows = []
        for var row in named {
            guard case .deferred(let due) = row.place else { continue }
            row.bytes = try snapshot.get(Key.deferred(row.lane, due: due, row.uid).span, in: table) ?? []
            if matcher.wants(row.bytes.span, lane: row.lane, uid: row.uid) { append(row) }
            if bytes >= share.bytes {
                stop = row.uid
                return
            }
        }
    }
}
