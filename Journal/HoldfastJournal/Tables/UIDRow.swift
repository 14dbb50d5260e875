import Holdfast
import HoldfastLMDB

/// One row of a table whose keys are UIDs, copied out.
struct UIDRow {
    let uid: UInt64
    let value: [UInt8]

    /// Rows, and bytes of rows, read in one snapshot.
    private static let pageCount = 1000
    private static let pageByteCount = 1 << 20

    struct Choice {
        let table: Table
        let after: UInt64
        let limit: Int
    }

    static func page(_ choice: Choice, in snapshot: borrowing Snapshot) throws(LMDBError) -> [UIDRow] {
        try snapshot.withCursor(choice.table) { (cursor: inout Cursor) throws(LMDBError) -> [UIDRow] in
            var rows: [UIDRow] = []
            var bytes = 0
            var found = try cursor.seek(atLeast: Key.uid(choice.after + 1).span)
            while found, rows.count < choice.limit, bytes < pageByteCount {
                cursor.withCurrent { key, value in
                    rows.append(UIDRow(uid: key.bigEndian64(at: 0), value: value.array))
                    bytes += value.count
                }
                found = try cursor.next()
            }
            return rows
        }
    }

    /// Rows read page by page, without those of which `read` makes nothing.
    static func list<Record>(
        after: UID, limit: Int, table: Table, page: (Choice) throws(JournalError) -> [UIDRow],
        read: (UIDRow) -> Record?
    ) throws(JournalError) -> [Record] {
        var records: [Record] = []
        var last = after.rawValue
        while records.count < limit, last < .max {
            let rows = try page(Choice(table: table, after: last, limit: min(limit - records.count, pageCount)))
            guard let end = rows.last else { break }
            records += rows.compactMap(read)
            last = end.uid
        }
        return records
    }
}
