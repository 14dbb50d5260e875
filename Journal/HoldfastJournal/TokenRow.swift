import Holdfast
import HoldfastLMDB

/// One row of `tokens`, copied out: a token, and the records of its entries one behind the other, in the order of their
/// scopes.
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

    /// - Returns: whole rows, until there are `limit` entries or no more rows.
    /// - Parameter rows: reads so many rows behind a token.
    static func entries(
        after: DeviceToken?, limit: Int, in directory: String,
        rows: (DeviceToken?, Int) throws(JournalError) -> [TokenRow]
    ) throws(JournalError) -> [BlacklistEntry] {
        var entries: [BlacklistEntry] = []
        while entries.count < limit {
            let wanted = min(limit - entries.count, greatestCount)
            let found = try rows(entries.last?.token ?? after, wanted)
            for row in found where entries.count < limit { entries += try row.entries(in: directory) }
            if found.count < wanted { break }
        }
        return entries
    }

    func entries(in directory: String) throws(JournalError) -> [BlacklistEntry] {
        guard let token = DeviceToken(bytes: token) else {
            throw .damaged("\(directory): a token of the blacklist has \(token.count) bytes", in: directory)
        }
        do throws(EntryRecord.Fault) {
            return try Self.entries(value, token: token)
        } catch {
            throw error.error(what: "the blacklist entry of \(token.shortened)", in: directory)
        }
    }

    /// The entries of a row's value.
    static func entries(_ value: [UInt8], token: DeviceToken) throws(EntryRecord.Fault) -> [BlacklistEntry] {
        var entries: [BlacklistEntry] = []
        for record in records(value) {
            let entry = try TokenRecord.read(Array(value[record]), token: token)
            guard entries.last.map({ $0.scope < entry.scope }) ?? true else {
                throw .damaged("its entries are not in the order of their topics and endpoints")
            }
            entries.append(entry)
        }
        return entries
    }

    /// The records of a row's value, by their own words of their lengths, damaged or not. At least one, and they cover the
    /// value: one whose length can't be true takes the rest.
    static func records(_ value: [UInt8]) -> [Range<Int>] {
        var records: [Range<Int>] = []
        var start = 0
        repeat {
            let length = TokenRecord.byteCount(value.span, at: start) ?? value.count
            let end = min(start + max(length, 1), value.count)
            records.append(start..<end)
            start = end
        } while start < value.count
        return records
    }

    /// Whether programs of format 1 understand a row of these entries.
    static func isOfFormat1(_ entries: [BlacklistEntry]) -> Bool {
        entries.count == 1 && TokenRecord.isOfFormat1(entries[0])
    }

    static func bytes(_ entries: [BlacklistEntry]) -> [UInt8] { entries.flatMap(TokenRecord.bytes) }

    /// The greatest number that a row's records say they have, damaged or not.
    static func uncheckedNumber(_ value: [UInt8]) -> UInt64 {
        records(value).reduce(0) { max($0, TokenRecord.uncheckedNumber(value.span, at: $1.lowerBound)) }
    }
}
