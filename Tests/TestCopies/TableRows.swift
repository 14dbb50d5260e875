package import HoldfastLMDB

/// All rows of an environment, by table and in order, to compare a working copy with what it is a copy of.
package struct TableRows: Equatable, Sendable {
    /// Without the copy's own table.
    package private(set) var tables: [String: [[UInt8]]] = [:]

    /// Of nothing.
    package init() {}

    /// - Parameter directory: of an environment that this process has not open.
    package init(_ directory: String) throws {
        let environment = try Environment.open(directory, .readOnly, mapByteCount: nil, tables: 64)
        defer { environment.close() }
        try self.init(environment)
    }

    package init(_ environment: Environment) throws {
        let pool = ReaderPool(environment)
        defer { pool.close() }
        let names = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.tableNames(limit: 100)
        }
        for name in names ?? [] where name != WorkingCopy.tableName {
            guard let table = try ReaderPool.openTables([name], in: environment)?.first else { continue }
            let rows = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
                    var rows: [[UInt8]] = []
                    var isThere = try cursor.first()
                    while isThere {
                        cursor.withCurrent { key, value in
                            rows.append([UInt8(key.count & 0xFF)] + key.array + value.array)
                        }
                        isThere = try cursor.next()
                    }
                    return rows
                }
            }
            tables[name] = rows
        }
    }

    /// The tables that only one of them has, or whose rows are others.
    package func differences(from other: TableRows) -> [String] {
        Set(tables.keys).union(other.tables.keys).filter { tables[$0] != other.tables[$0] }.sorted()
    }
}
