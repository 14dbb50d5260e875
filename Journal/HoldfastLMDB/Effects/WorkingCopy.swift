import CHoldfastLMDB

/// The place of a working copy in its log: the number and the checksum of the last commit that is in it.
package enum WorkingCopy {
    /// A table of its own, which no effects name.
    package static let tableName = "copy"
    private static let numberKey: [UInt8] = Array("number".utf8)

    /// How far a copy is.
    package struct Place: Hashable, Sendable {
        /// Of the last commit in the copy; 0 for one that is not whole.
        package let number: UInt64
        /// The checksum with which the effects of that commit begin. Another commit of the same number has another.
        package let sum: UInt64

        package init(number: UInt64, sum: UInt64) {
            self.number = number
            self.sum = sum
        }

        /// That of a copy which is being made.
        package static let unfinished = Place(number: 0, sum: 0)

        /// Behind a commit with these effects.
        package init(number: UInt64, effects: Span<UInt8>) {
            self.init(number: number, sum: effects.count < 8 ? 0 : effects.load(UInt64.self, at: 0))
        }
    }

    /// The number of the last commit in the copy; 0 for one that has none, or whose number is damaged: it is built anew.
    package static func number(in environment: Environment) throws(LMDBError) -> UInt64 {
        try place(in: environment)?.number ?? 0
    }

    /// - Returns: `nil` for an environment that is no copy, or has no commit yet.
    package static func place(in environment: Environment) throws(LMDBError) -> Place? {
        guard let table = try ReaderPool.openTables([tableName], in: environment)?.first else { return nil }
        let pool = ReaderPool(environment)
        defer { pool.close() }
        return try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try place(in: snapshot, table)
        } ?? nil
    }

    /// - Parameter table: the copy's own.
    package static func place(in snapshot: borrowing Snapshot, _ table: Table) throws(LMDBError) -> Place? {
        let key = numberKey
        guard let row = try snapshot.get(key.span, in: table) else { return nil }
        let bytes = row.span
        guard bytes.count == 24, bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8, seed: 0) else {
            return .unfinished
        }
        return Place(number: bytes.load(UInt64.self, at: 8), sum: bytes.load(UInt64.self, at: 16))
    }

    /// The number that the next commit of a copy gets.
    ///
    /// - Returns: `nil` in an environment without a ``CommitGate``.
    package static func nextNumber(in transaction: borrowing WriteTransaction) throws(LMDBError) -> UInt64? {
        guard transaction.recorder != nil, let table = transaction.environment.copyTable else { return nil }
        let key = numberKey
        guard let row = try transaction.get(key.span, in: table), row.count == 24 else { return 1 }
        return row.span.load(UInt64.self, at: 8) + 1
    }

    /// Brings a copy from one commit to the next.
    ///
    /// - Parameters:
    ///   - environment: one without a ``CommitGate``.
    ///   - effects: in their order, what follows the copy's number.
    ///   - number: that of the last of them; 0 for a part of what makes a copy whole.
    /// - Throws: `Effects.Damage` in place of changing anything.
    package static func apply(
        _ effects: [[UInt8]], number: UInt64, to environment: Environment
    ) throws {
        let last = effects.last ?? []
        try apply(effects, Place(number: number, effects: last.span), to: environment)
    }

    /// Brings a copy to a place.
    package static func apply(_ effects: [[UInt8]], _ place: Place, to environment: Environment) throws {
        let transaction = try WriteTransaction(environment)
        for bytes in effects {
            var reader = try EffectReader(bytes.span)
            var tables: [Table] = []
            while true {
                let change = try reader.next(bytes.span)
                // Those behind the last change, too: they are made, and empty.
                while tables.count < reader.tables.count {
                    tables.append(try transaction.table(reader.tables[tables.count]))
                }
                guard let change else { break }
                switch change {
                case .put(let table, let key, let value):
                    try transaction.put(key.span, bytes.span.extracting(value), in: tables[table])
                case .delete(let table, let key):
                    _ = try transaction.delete(key.span, in: tables[table])
                }
            }
        }
        try note(place, in: transaction)
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

    static func note(_ place: Place, in transaction: borrowing WriteTransaction) throws(LMDBError) {
        var bytes = [UInt8](repeating: 0, count: 24)
        var span = bytes.mutableSpan
        span.store(place.number, at: 8)
        span.store(place.sum, at: 16)
        span.store(XXH64.hash(span.span, from: 8, seed: 0), at: 0)
        let key = numberKey
        var table = transaction.environment.copyTable
        if table == nil { table = try transaction.table(tableName) }
        if let table { try transaction.put(key.span, bytes.span, in: table) }
    }
}
