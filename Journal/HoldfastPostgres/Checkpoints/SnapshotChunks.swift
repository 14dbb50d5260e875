internal import HoldfastLMDB

/// Reads a snapshot from end to end as effects that put its rows, a chunk at a time.
struct SnapshotChunks {
    private let tables: [(name: String, table: Table)]
    private let byteLimit: Int
    private var index = 0
    /// The last key of the table that was read.
    private var after: [UInt8]?

    /// - Parameter byteLimit: of a chunk, which the last row may exceed.
    init(_ tables: [(name: String, table: Table)], byteLimit: Int) {
        self.tables = tables
        self.byteLimit = byteLimit
    }

    /// - Returns: `nil` at the end.
    mutating func next(_ snapshot: borrowing Snapshot) throws(LMDBError) -> [UInt8]? {
        guard index < tables.count else { return nil }
        var writer = EffectWriter()
        while index < tables.count, writer.byteCount < byteLimit {
            guard let number = writer.table(tables[index].name) else {
                throw LMDBError(.notKept, "more tables than effects can name", path: snapshot.environment.path)
            }
            if try fill(&writer, number, snapshot) {
                index += 1
                after = nil
            }
        }
        return writer.finish()
    }

    /// - Returns: whether the table was read to its end.
    private mutating func fill(
        _ writer: inout EffectWriter, _ number: Int, _ snapshot: borrowing Snapshot
    ) throws(LMDBError) -> Bool {
        var last = after
        let limit = byteLimit
        let isDone = try snapshot.withCursor(tables[index].table) { (cursor: inout Cursor) throws(LMDBError) -> Bool in
            // Within a snapshot, the last key is there.
            var isThere = if let last { try cursor.find(last.span) } else { try cursor.first() }
            if isThere, last != nil { isThere = try cursor.next() }
            while isThere {
                var isFull = false
                cursor.withCurrent { key, value in
                    writer.put(key, value, in: number)
                    isFull = writer.byteCount >= limit
                    if isFull { last = key.array }
                }
                if isFull { return false }
                isThere = try cursor.next()
            }
            return true
        }
        after = last
        return isDone
    }
}
