import CHoldfastLMDB
import Foundation

/// A snapshot to read from. While it is active, no page of its snapshot can be reused, so it is reset as soon as the
/// wanted data has been copied out.
///
/// Unchecked, because with `MDB_NOTLS` any one thread at a time may use it, and the pool lends it to one.
@safe final class ReadTransaction: Transaction, @unchecked Sendable {
    let environment: Environment
    private let handle: OpaquePointer
    private var hasEnded = false

    init(_ environment: Environment) throws(LMDBError) {
        var begun: OpaquePointer?
        let code = unsafe mdb_txn_begin(environment.handle, nil, UInt32(MDB_RDONLY), &begun)
        try check(code, "mdb_txn_begin", path: environment.path)
        self.environment = environment
        unsafe handle = begun!
    }

    deinit { end() }

    /// Lets go of its slot in the lock file. Not left to ``deinit`` where the environment may close: when the last reference
    /// goes is the compiler's to say. Nothing may be read after this.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        unsafe mdb_txn_abort(handle)
    }

    @unsafe var pointer: OpaquePointer { unsafe handle }

    func reset() { unsafe mdb_txn_reset(handle) }

    func renew() throws(LMDBError) {
        try check(unsafe mdb_txn_renew(handle), "mdb_txn_renew", path: environment.path)
    }
}

/// The snapshot that a borrower of a ``ReaderPool`` reads from.
package struct Snapshot: Transaction, ~Copyable {
    let transaction: ReadTransaction
    package var environment: Environment { transaction.environment }
    @unsafe package var pointer: OpaquePointer { unsafe transaction.pointer }

    /// Opens a table that exists. Valid for later transactions only inside ``ReaderPool/openTables(_:)``.
    package func table(_ name: String) throws(LMDBError) -> Table? {
        var index: MDB_dbi = 0
        let code = unsafe mdb_dbi_open(pointer, name, 0, &index)
        return try checkFound(code, "mdb_dbi_open", path: environment.path)
            ? environment.table(name, index) : nil
    }

    /// The names in the list of tables, as they lie there; at most `limit`, since a damaged list may have any number.
    package func tableNames(limit: Int) throws(LMDBError) -> [String] {
        var index: MDB_dbi = 0
        try check(unsafe mdb_dbi_open(pointer, nil, 0, &index), "mdb_dbi_open", path: environment.path)
        return try withCursor(Table(index: index)) { (cursor: inout Cursor) throws(LMDBError) -> [String] in
            var names: [String] = []
            var found = try cursor.first()
            while found, names.count < limit {
                cursor.withCurrent { key, _ in names.append(String(decoding: key.array, as: UTF8.self)) }
                found = try cursor.next()
            }
            return names
        }
    }
}

/// Read transactions for any thread, kept for the next one: beginning one costs a slot in the lock file, renewing costs
/// nothing to speak of.
package final class ReaderPool: @unchecked Sendable {  // everything mutable is touched only while `condition` is held
    private let environment: Environment
    private let condition = NSCondition()
    private var idle: [ReadTransaction] = []
    private var lent = 0
    private var closed = false

    private static let greatestIdleCount = 16

    package init(_ environment: Environment) { self.environment = environment }

    /// Runs `body` in a snapshot of the newest commit, which is let go before this returns.
    ///
    /// - Returns: nil when the pool is closed.
    package func read<R>(_ body: (borrowing Snapshot) throws(LMDBError) -> R) throws(LMDBError) -> R? {
        guard let transaction = try borrow() else { return nil }
        defer { giveBack(transaction) }
        return try body(Snapshot(transaction: transaction))
    }

    /// Opens tables in a read transaction of its own that is committed, without which their handles would not last.
    ///
    /// - Returns: nil when one of them does not exist.
    package static func openTables(_ names: [String], in environment: Environment) throws(LMDBError) -> [Table]? {
        try environment.openingTables { () throws(LMDBError) in try openTablesAlone(names, in: environment) }
    }

    private static func openTablesAlone(
        _ names: [String], in environment: Environment
    ) throws(LMDBError) -> [Table]? {
        var begun: OpaquePointer?
        let code = unsafe mdb_txn_begin(environment.handle, nil, UInt32(MDB_RDONLY), &begun)
        try check(code, "mdb_txn_begin", path: environment.path)
        let transaction = unsafe begun!
        var tables: [Table] = []
        for name in names {
            var index: MDB_dbi = 0
            let code = unsafe mdb_dbi_open(transaction, name, 0, &index)
            if code != MDB_SUCCESS {
                unsafe mdb_txn_abort(transaction)
                return try checkFound(code, "mdb_dbi_open", path: environment.path) ? tables : nil
            }
            tables.append(environment.table(name, index))
        }
        try check(unsafe mdb_txn_commit(transaction), "mdb_txn_commit", path: environment.path)
        return tables
    }

    /// Admits no new reader, waits for the active ones, and frees all.
    package func close() {
        condition.lock()
        closed = true
        while lent > 0 { condition.wait() }
        let last = idle
        idle = []
        for transaction in last { transaction.end() }
        condition.unlock()
        // Outside the lock: the last of them may close the environment.
        withExtendedLifetime(last) {}
    }

    private func borrow() throws(LMDBError) -> ReadTransaction? {
        condition.lock()
        if closed {
            condition.unlock()
            return nil
        }
        lent += 1
        let pooled = idle.popLast()
        condition.unlock()
        do throws(LMDBError) {
            guard let pooled else { return try ReadTransaction(environment) }
            try pooled.renew()
            return pooled
        } catch {
            pooled?.end()
            settle(nil)
            throw error
        }
    }

    private func giveBack(_ transaction: ReadTransaction) {
        transaction.reset()
        settle(transaction)
    }

    private func settle(_ transaction: ReadTransaction?) {
        condition.lock()
        if let transaction {
            // Before it counts as given back: from then on the environment may be closed.
            if closed || idle.count >= Self.greatestIdleCount { transaction.end() } else { idle.append(transaction) }
        }
        lent -= 1
        let wake = lent == 0 && closed
        condition.unlock()
        if wake { condition.broadcast() }
    }
}
