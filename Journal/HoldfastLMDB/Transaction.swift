import CHoldfastLMDB

/// Look-ups in one snapshot, common to read and write transactions.
package protocol Transaction: ~Copyable {
    var environment: Environment { get }
    @unsafe var pointer: OpaquePointer { get }
    /// Notes what its cursors change.
    var recorder: EffectRecorder? { get }
}

extension Transaction where Self: ~Copyable {
    package var recorder: EffectRecorder? { nil }

    /// Passes the value of `key` to `body`, in place: it must not keep the span.
    ///
    /// - Returns: false when there is no such key.
    package func get(_ key: Span<UInt8>, in table: Table, _ body: (Span<UInt8>) -> Void) throws(LMDBError) -> Bool {
        if let seal = table.seal, seal.covers(key) { return try getSealed(key, in: table, seal, body) }
        var value = unsafe MDB_val()
        let code = unsafe key.withValue { key in unsafe mdb_get(pointer, table.index, key, &value) }
        guard try checkFound(code, "mdb_get", path: environment.path) else { return false }
        unsafe value.withSpan(body)
        return true
    }

    private func getSealed(
        _ key: Span<UInt8>, in table: Table, _ seal: any RowSeal, _ body: (Span<UInt8>) -> Void
    ) throws(LMDBError) -> Bool {
        let stored = try seal.place(of: key)
        var row = OpenedRow()
        let isFound = try get(stored.span, in: table.asStored) { value in
            seal.open(value, storedKey: stored.span, into: &row)
        }
        if isFound { body(row.value.span) }
        return isFound
    }

    /// A copy of the value of `key`.
    package func get(_ key: Span<UInt8>, in table: Table) throws(LMDBError) -> [UInt8]? {
        var copy: [UInt8] = []
        return try get(key, in: table) { value in copy = value.array } ? copy : nil
    }

    /// Runs `body` with a cursor over the table, closed before this returns.
    package func withCursor<R>(
        _ table: Table, _ body: (inout Cursor) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        var cursor = try unsafe Cursor(pointer, table, path: environment.path, recorder: recorder)
        return try body(&cursor)
    }

    package func statistics(of table: Table) throws(LMDBError) -> TableStatistics {
        var facts = MDB_stat()
        try check(unsafe mdb_stat(pointer, table.index, &facts), "mdb_stat", path: environment.path)
        return TableStatistics(
            entries: facts.ms_entries, pages: facts.ms_branch_pages + facts.ms_leaf_pages + facts.ms_overflow_pages)
    }

    /// Pages that this snapshot's tables and free list occupy. Everything else below the high-water mark is free, or
    /// will be once no reader looks at it.
    package func usedPages(of tables: [Table]) throws(LMDBError) -> Int {
        var pages = 2  // the meta pages
        for table in tables + [Table.freeList, Table.main] { pages += try statistics(of: table).pages }
        return pages
    }

    /// Free pages that the next write transaction may use: those given back by commits that no reader can still see.
    ///
    /// Walks the free list, so not for each commit.
    package func freePages(seenBy readers: [ReaderInfo]) throws(LMDBError) -> Int {
        let oldest = readers.compactMap(\.transaction).min() ?? .max
        return try withCursor(.freeList) { (cursor: inout Cursor) throws(LMDBError) -> Int in
            var pages = 0
            var found = try cursor.first()
            while found {
                // The key is the commit's number, the value a list of page numbers behind their count; both native-endian.
                cursor.withCurrent { key, value in
                    if key.load(UInt64.self, at: 0) < oldest { pages += Int(value.load(UInt64.self, at: 0)) }
                }
                found = try cursor.next()
            }
            return pages
        }
    }
}

/// One table (a named database) of an environment. Opened in a write or read transaction that is then committed; valid
/// for every transaction from then on.
package struct Table: Hashable, Sendable {
    let index: UInt32
    /// What its rows are sealed with; nil for rows that are stored as they are put.
    let seal: (any RowSeal)?

    init(index: UInt32, seal: (any RowSeal)? = nil) { (self.index, self.seal) = (index, seal) }

    /// The same table with its rows as they are stored.
    package var asStored: Table { Table(index: index) }

    package static func == (lhs: Table, rhs: Table) -> Bool { lhs.index == rhs.index }

    package func hash(into hasher: inout Hasher) { hasher.combine(index) }

    /// liblmdb's own list of free pages.
    static let freeList = Table(index: 0)
    /// liblmdb's own list of tables.
    static let main = Table(index: 1)
}

package struct TableStatistics: Hashable, Sendable {
    package let entries: Int
    package let pages: Int
}

extension Span<UInt8> {
    /// Runs `body` with the bytes as liblmdb wants them, in place.
    @unsafe func withValue(_ body: (UnsafeMutablePointer<MDB_val>) -> Int32) -> Int32 {
        unsafe withUnsafeBytes { bytes in
            var value = unsafe MDB_val(
                mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return unsafe body(&value)
        }
    }
}

extension MDB_val {
    /// The bytes it points to, which lie in the map or in a dirty page, for as long as `body` runs.
    @unsafe func withSpan(_ body: (Span<UInt8>) -> Void) {
        let bytes = unsafe UnsafeRawBufferPointer(start: mv_data, count: mv_size)
        unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in unsafe body(bytes.span) }
    }
}
