import Foundation
import Holdfast
import HoldfastLMDB

/// Keeps look-ups of tokens that are not on a large blacklist away from the store.
///
/// Built in the background from snapshots, a stretch of the table at a time. What is added meanwhile is kept aside and
/// put in before the filter is used. That is enough: an addition is reported here after its commit, so it is either in
/// every snapshot of a building that began later, or it is reported while that building is under way.
final class BlacklistFilter: Sendable {
    private struct State: Sendable {
        var filter: BloomFilter?
        /// Keys put into it. A key that was added twice counts twice.
        var inserted = 0
        /// The number of inserted keys at which it is built anew.
        var rebuildAt = 0
        var isBuilding = false
        /// The tables that it is built from.
        var tables: BlacklistTables
        /// Hashes of keys added since the building began.
        var meanwhile: [UInt64] = []
        var isClosed = false
    }

    private let state: Monitor<State>
    private let readers: ReaderPool
    private let threshold: Int
    private let greatestByteCount: Int
    private let stretch: Int
    /// Random, so that nobody can choose tokens that collide.
    private let seed = UInt64.random(in: 0...UInt64.max)

    /// - Parameters:
    ///   - threshold: the number of entries from which on there is a filter.
    ///   - greatestByteCount: of the filter.
    ///   - stretch: keys read in one snapshot.
    init(
        _ tables: BlacklistTables, _ readers: ReaderPool, threshold: Int, greatestByteCount: Int, stretch: Int
    ) {
        state = Monitor(State(tables: tables))
        self.readers = readers
        self.threshold = threshold
        self.greatestByteCount = greatestByteCount
        self.stretch = stretch
    }

    /// Whether it is built and asked.
    var isReady: Bool { state.withLock { state in state.filter != nil } }

    /// Leaves of `tokens`, which lie in `bytes`, those that may be on the blacklist.
    func narrow(_ tokens: inout [(index: Int, token: Range<Int>)], in bytes: Span<UInt8>) {
        guard isReady else { return }
        var hashes: [UInt64] = []
        hashes.reserveCapacity(tokens.count)
        for (_, token) in tokens { hashes.append(BloomFilter.hash(bytes.extracting(token), seed: seed)) }
        let kept: [Bool]? = state.withLock { state in
            state.filter.map { filter in hashes.map { hash in filter.mayContain(hash) } }
        }
        guard let kept else { return }
        var position = 0
        tokens.removeAll { _ in
            defer { position += 1 }
            return !kept[position]
        }
    }

    /// Whether the recipient with this key may be on the blacklist.
    func mayHave(_ key: Span<UInt8>) -> Bool {
        let hash = BloomFilter.hash(key, seed: seed)
        return state.withLock { state in state.filter?.mayContain(hash) ?? true }
    }

    /// To be told when the blacklist is opened, and after each commit, before anybody hears of it.
    ///
    /// - Parameters:
    ///   - added: what the commit has added.
    ///   - count: the entries there are now.
    ///   - tables: those there are now.
    func changed(added: [BlacklistPlace], count: Int, _ tables: BlacklistTables) {
        let hashes = added.map { place in BloomFilter.hash(place.key.span, seed: seed) }
        let isDue = state.withLock { state in
            state.tables = tables
            if state.filter != nil {
                for hash in hashes { state.filter?.insert(hash) }
                state.inserted += hashes.count
            }
            if state.isBuilding { state.meanwhile += hashes }
            let isDue = state.filter == nil ? count >= threshold : state.inserted > state.rebuildAt
            guard isDue, !state.isBuilding, !state.isClosed else { return false }
            state.isBuilding = true
            return true
        }
        guard isDue else { return }
        Thread.detachNewThread { [self] in build(count) }
    }

    /// Builds no more. What is under way ends with the stretch it reads.
    func close() { state.withLock { state in state.isClosed = true } }

    private func build(_ count: Int) {
        var filter = BloomFilter(capacity: 2 * max(count, threshold), greatestByteCount: greatestByteCount, seed: seed)
        var inserted = 0
        var isWhole = true
        do throws(LMDBError) {
            // All keys of a table that is made meanwhile are among those kept aside.
            for (_, table) in state.withLock({ state in state.tables.all }) where isWhole {
                isWhole = try read(table, into: &filter, &inserted)
            }
        } catch {
            // Readings of the blacklist itself will report it. Without a filter every look-up goes there.
            isWhole = false
        }
        finish(isWhole ? filter : nil, inserted)
    }

    /// - Returns: whether all of the table was read.
    private func read(
        _ table: Table, into filter: inout BloomFilter, _ inserted: inout Int
    ) throws(LMDBError) -> Bool {
        var next: [UInt8]? = []
        while let start = next, !state.withLock({ state in state.isClosed }) {
            // A closed pool gives nothing.
            let read = try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) -> Place in
                try stretch(of: table, from: start, into: &filter, &inserted, snapshot)
            }
            guard let read else { break }
            next = read.next
        }
        return next == nil
    }

    private func finish(_ filter: consuming BloomFilter?, _ inserted: Int) {
        let filter = filter
        state.withLock { state in
            if var filter {
                for hash in state.meanwhile { filter.insert(hash) }
                state.inserted = inserted + state.meanwhile.count
                state.rebuildAt = max(filter.capacity, 2 * state.inserted)
                state.filter = filter
            } else {
                // Not again at each commit, if it cannot be read.
                state.rebuildAt = max(state.rebuildAt, 2 * state.inserted)
            }
            state.meanwhile = []
            state.isBuilding = false
        }
    }

    private struct Place {
        /// The key with which to go on; nil at the end.
        let next: [UInt8]?
    }

    private func stretch(
        of table: Table, from start: [UInt8], into filter: inout BloomFilter, _ inserted: inout Int,
        _ snapshot: borrowing Snapshot
    ) throws(LMDBError) -> Place {
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> Place in
            var found = try start.isEmpty ? cursor.first() : cursor.seekStored(atLeast: start.span)
            var order = KeyOrder(from: start)
            if found { cursor.withStoredKey { key in order.begin(at: key) } }
            for _ in 0..<stretch where found {
                cursor.withStoredKey { key in order.follow(key) }
                cursor.withKey { key in filter.insert(filter.hash(key)) }
                inserted += 1
                found = try cursor.next()
            }
            guard !order.isBroken else {
                throw LMDBError(.corrupted, "mdb_cursor_get", path: snapshot.environment.path)
            }
            guard found else { return Place(next: nil) }
            var next: [UInt8] = []
            cursor.withStoredKey { key in next = key.array }
            return Place(next: next)
        }
    }
}

/// Whether a reading that goes on at a key, stretch by stretch, passes every row: a key that is damaged would send it past
/// others, or back. A filter without them would let their tokens through.
private struct KeyOrder {
    private let start: [UInt8]
    private var last: UInt64 = 0
    private(set) var isBroken = false

    init(from start: [UInt8]) { self.start = start }

    /// Where the stretch begins: at its key, unless that was removed meanwhile; then the building is tried again later.
    mutating func begin(at key: Span<UInt8>) {
        if !start.isEmpty, key.array != start { isBroken = true }
    }

    /// By their first bytes, which tell all but a few tokens apart.
    mutating func follow(_ key: Span<UInt8>) {
        var head: UInt64 = 0
        for index in 0..<8 { head = head << 8 | (index < key.count ? UInt64(key[index]) : 0) }
        if head < last { isBroken = true }
        last = head
    }
}
