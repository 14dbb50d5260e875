import CHoldfastLMDB

/// What an environment knows of being a copy: the number of the last commit that is in it.
package enum WorkingCopy {
    /// A table of its own, which no effects name.
    package static let tableName = "copy"
    private static let numberKey: [UInt8] = Array("number".utf8)

    /// The number of the last commit in the copy; 0 for one that has none, or whose number is damaged: it is built anew.
    package static func number(in environment: Environment) throws(LMDBError) -> UInt64 {
        guard let table = try ReaderPool.openTables([tableName], in: environment)?.first else { return 0 }
        let pool = ReaderPool(environment)
        defer { pool.close() }
        let key = numberKey
        let row = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(key.span, in: table)
        }
        guard let row, let bytes = row, bytes.count == 16 else { return 0 }
        let number = bytes.span.load(UInt64.self, at: 8)
        return bytes.span.load(UInt64.self, at: 0) == XXH64.hash(bytes.span, from: 8, seed: 0) ? number : 0
    }

    /// Brings a copy from one commit to the next.
    ///
    /// - Parameters:
    ///   - environment: one without a ``CommitGate``.
    ///   - effects: in their order, what follows the copy's number.
    ///   - number: that of the last of them.
    /// - Throws: `Effects.Damage` in place of changing anything.
    package static func apply(
        _ effects: [[UInt8]], number: UInt64, to environment: Environment
    ) throws {
        let transaction = try WriteTransaction(environment)
        for bytes in effects {
            var reader = try EffectReader(bytes.span)
            var tables: [Table] = []
            while let change = try reader.next(bytes.span) {
                while tables.count < reader.tables.count {
                    tables.append(try transaction.table(reader.tables[tables.count]))
                }
                switch change {
                case .put(let table, let key, let value):
                    try transaction.put(key.span, bytes.span.extracting(value), in: tables[table])
                case .delete(let table, let key):
                    _ = try transaction.delete(key.span, in: tables[table])
                }
            }
        }
        try note(number, in: transaction)
        try transaction.commit()
    }

    /// Makes the table when a copy is opened: later, handles are not given out beside readers.
    @unsafe static func openTable(in environment: OpaquePointer, path: String) throws(LMDBError) -> Table {
        var begun: OpaquePointer?
        try check(unsafe mdb_txn_begin(environment, nil, 0, &begun), "mdb_txn_begin", path: path)
        let transaction = unsafe begun!
        var index: MDB_dbi = 0
        let code = unsafe mdb_dbi_open(transaction, tableName, UInt32(MDB_CREATE), &index)
        guard code == MDB_SUCCESS else {
            unsafe mdb_txn_abort(transaction)
            throw LMDBError(LMDBError.Code(rawValue: code), "mdb_dbi_open", path: path)
        }
        try check(unsafe mdb_txn_commit(transaction), "mdb_txn_commit", path: path)
        return Table(index: index)
    }

    static func note(_ number: UInt64, in transaction: borrowing WriteTransaction) throws(LMDBError) {
        var bytes = [UInt8](repeating: 0, count: 16)
        var span = bytes.mutableSpan
        span.store(number, at: 8)
        span.store(XXH64.hash(span.span, from: 8, seed: 0), at: 0)
        let key = numberKey
        var table = transaction.environment.copyTable
        if table == nil { table = try transaction.table(tableName) }
        if let table { try transaction.put(key.span, bytes.span, in: table) }
    }
}
