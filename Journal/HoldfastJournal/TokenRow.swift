import Holdfast
import HoldfastLMDB

/// One row of `tokens`, copied out.
struct TokenRow {
    /// The most rows read in one snapshot.
    static let greatestCount = 10_000

    let token: [UInt8]
    let value: [UInt8]

    static func list(
        _ table: Table, after: DeviceToken?, limit: Int, in snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [TokenRow] {
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> [TokenRow] in
            var rows: [TokenRow] = []
            // The first key above `after` is the first at or above it with a zero behind.
            let start = (after?.bytes ?? []) + [0]
            var found = try after == nil ? cursor.first() : cursor.seek(atLeast: start.span)
            while found, rows.count < limit {
                cursor.withCurrent { key, value in rows.append(TokenRow(token: key.array, value: value.array)) }
                found = try cursor.next()
            }
            return rows
        }
    }

    func entry(in directory: String) throws(JournalError) -> BlacklistEntry {
        guard let token = DeviceToken(bytes: token) else {
            throw .damaged("\(directory): a token of the blacklist has \(token.count) bytes", in: directory)
        }
        do throws(EntryRecord.Fault) {
            return try TokenRecord.read(value, token: token)
        } catch {
            throw error.error(what: "the blacklist entry of \(token.shortened)", in: directory)
        }
    }
}
