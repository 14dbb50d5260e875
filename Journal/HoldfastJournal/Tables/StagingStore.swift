import Holdfast
import HoldfastLMDB

/// An environment that is being filled in any order, with changes gathered into commits that nobody else sees and that are
/// synced at the end. What was put can be looked up at once.
final class StagingStore {
    private let environment: Environment
    private let readers: ReaderPool
    private let directory: String
    /// Tables that were asked for, and others once they have a row.
    private var tables: [String: Table] = [:]
    /// Changes that are not committed yet; nil deletes.
    private var pending: [String: [[UInt8]: [UInt8]?]] = [:]
    private var pendingBytes = 0
    /// Tables that have had a row; looking up in others costs nothing.
    private var filled: Set<String> = []

    private static let greatestPending = 4 << 20

    /// - Parameters:
    ///   - directory: made if it is not there.
    ///   - seals: what its rows are sealed with; nil for rows that are stored as they are put.
    init(
        _ directory: String, tables names: [String], mapByteCount: Int, seals: (any RowSeals)? = nil
    ) throws(JournalError) {
        self.directory = directory
        let opened = try translated("make", directory) { () throws(LMDBError) -> (Environment, [String: Table]) in
            _ = try Files.makeDirectory(directory, adopting: true)
            let environment = try Environment.open(
                directory, .readWriteUnsynced, mapByteCount: mapByteCount, tables: EntriesStore.tableLimit)
            if let seals { environment.seal(with: seals) }
            let transaction = try WriteTransaction(environment)
            var tables: [String: Table] = [:]
            for name in names { tables[name] = try transaction.table(name) }
            try transaction.commit()
            return (environment, tables)
        }
        (environment, tables) = opened
        readers = ReaderPool(opened.0)
    }

    func put(_ table: String, _ key: [UInt8], _ value: [UInt8]) throws(JournalError) {
        filled.insert(table)
        try change(table, key, value)
    }

    func delete(_ table: String, _ key: [UInt8]) throws(JournalError) { try change(table, key, nil) }

    private func change(_ table: String, _ key: [UInt8], _ value: [UInt8]?) throws(JournalError) {
        pending[table, default: [:]].updateValue(value, forKey: key)
        pendingBytes += key.count + (value?.count ?? 0) + 64
        if pendingBytes > Self.greatestPending { try flush() }
    }

    func get(_ table: String, _ key: [UInt8]) throws(JournalError) -> [UInt8]? {
        guard filled.contains(table) else { return nil }
        if let value = pending[table]?[key] { return value }
        guard let index = tables[table] else { return nil }
        return try translated("read", directory) { () throws(LMDBError) -> [UInt8]? in
            try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) -> [UInt8]? in
                try snapshot.get(key.span, in: index)
            } ?? nil
        }
    }

    func has(_ table: String, _ key: [UInt8]) throws(JournalError) -> Bool { try get(table, key) != nil }

    /// Passes all rows in the order of their keys; `body` may change any table.
    func forEach(
        _ table: String, _ body: (_ key: [UInt8], _ value: [UInt8]) throws(JournalError) -> Void
    ) throws(JournalError) {
        guard filled.contains(table) else { return }
        try flush()
        guard let index = tables[table] else { return }
        var (last, isOver): ([UInt8]?, Bool) = (nil, false)
        while !isOver {
            let start = last
            let rows = try translated("read", directory) { () throws(LMDBError) -> [(key: [UInt8], value: [UInt8])] in
                try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                    try Self.page(index, after: start, snapshot)
                } ?? []
            }
            for row in rows { try body(row.key, row.value) }
            last = rows.last?.key
            isOver = last == nil
        }
    }

    /// At most so many rows are held at a time.
    private static let pageCount = 500

    private static func page(
        _ table: Table, after last: [UInt8]?, _ snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [(key: [UInt8], value: [UInt8])] {
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> [(key: [UInt8], value: [UInt8])] in
            var rows: [(key: [UInt8], value: [UInt8])] = []
            var found = if let last { try cursor.seek(above: last.span) } else { try cursor.first() }
            while found, rows.count < pageCount {
                cursor.withCurrent { key, value in rows.append((key.array, value.array)) }
                found = try cursor.next()
            }
            return rows
        }
    }

    func flush() throws(JournalError) {
        guard pendingBytes > 0 else { return }
        try translated("write to", directory) { () throws(LMDBError) in
            do throws(LMDBError) { try commitPending() } catch { throw Self.fullDisk(error, directory) ?? error }
        }
        pending = [:]
        pendingBytes = 0
    }

    /// A write that ends before its end is an I/O error to liblmdb, and on a full disk the want of room.
    private static func fullDisk(_ error: LMDBError, _ directory: String) -> LMDBError? {
        guard error.code == .inputOutput else { return nil }
        do throws(LMDBError) {
            guard try Files.availableBytes(at: directory) < leastAvailable else { return nil }
        } catch {
            return nil
        }
        return LMDBError(.noSpace, error.operation, path: directory)
    }

    /// Less is no room for what a commit writes at a time.
    private static let leastAvailable = 1 << 20

    private func commitPending() throws(LMDBError) {
        let transaction = try WriteTransaction(environment)
        var opened = tables
        for (name, rows) in pending {
            let table = if let table = opened[name] { table } else { try transaction.table(name) }
            opened[name] = table
            for (key, value) in rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                if let value {
                    try transaction.put(key.span, value.span, in: table)
                } else {
                    _ = try transaction.delete(key.span, in: table)
                }
            }
        }
        try transaction.commit()
        tables = opened
    }

    /// Commits, syncs and closes.
    func finish() throws(JournalError) {
        defer { close() }
        try flush()
        try translated("sync", directory) { () throws(LMDBError) in try environment.sync() }
    }

    /// Closes without keeping what waits.
    func close() {
        readers.close()
        environment.close()
    }
}
