import Foundation
import HoldfastLMDB

/// Puts rows into the order of their keys, on disk: there may be more than memory holds.
final class RowSorter {
    private let directory: String
    private let environment: Environment
    private let table: Table
    private var pending: [(key: [UInt8], value: [UInt8])] = []
    private var pendingBytes = 0

    private static let greatestPending = 4 << 20

    /// - Parameter directory: made anew. What is in it is not synced, and no use to anybody later.
    init(_ directory: String, mapByteCount: Int) throws(LMDBError) {
        self.directory = directory
        try Self.clear(directory)
        _ = try Files.makeDirectory(directory)
        environment = try Environment.open(directory, .readWriteUnsynced, mapByteCount: mapByteCount, tables: 1)
        let transaction = try WriteTransaction(environment)
        table = try transaction.table("rows")
        try transaction.commit()
    }

    func put(_ key: [UInt8], _ value: [UInt8]) throws(LMDBError) {
        pending.append((key, value))
        pendingBytes += key.count + value.count
        if pendingBytes > Self.greatestPending { try flush() }
    }

    private func flush() throws(LMDBError) {
        let transaction = try WriteTransaction(environment)
        pending.sort { $0.key.lexicographicallyPrecedes($1.key) }
        for (key, value) in pending { try transaction.put(key.span, value.span, in: table) }
        try transaction.commit()
        (pending, pendingBytes) = ([], 0)
    }

    /// Passes all rows in the order of their keys.
    func passAll(_ body: (_ key: [UInt8], _ value: Span<UInt8>) throws(LMDBError) -> Void) throws(LMDBError) {
        try flush()
        let pool = ReaderPool(environment)
        defer { pool.close() }
        var failure: LMDBError?
        _ = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
                var found = try cursor.first()
                while found, failure == nil {
                    cursor.withCurrent { key, value in
                        do throws(LMDBError) { try body(key.array, value) } catch { failure = error }
                    }
                    found = try cursor.next()
                }
            }
        }
        if let failure { throw failure }
    }

    func remove() throws(LMDBError) {
        environment.close()
        try Self.clear(directory)
    }

    /// Removes what an interrupted one has left.
    static func clear(_ directory: String) throws(LMDBError) {
        guard Files.exists(directory) else { return }
        do { try FileManager.default.removeItem(atPath: directory) } catch {
            throw LMDBError(.inputOutput, "remove", path: directory)
        }
    }
}
