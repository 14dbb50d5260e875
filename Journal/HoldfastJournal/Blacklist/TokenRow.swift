public import Holdfast
import HoldfastLMDB

/// Entries of a blacklist, in the order of their tokens' bytes and of their scopes.
public struct BlacklistPage: Sendable {
    /// The entries of one token come together.
    public internal(set) var entries: [BlacklistEntry] = []
    /// Tokens whose records cannot be read. They are left out.
    public internal(set) var unreadableCount = 0
    /// The first of them, and why.
    public internal(set) var firstUnreadable: (token: DeviceToken?, fault: RecordFault)?

    mutating func take(_ row: TokenRow) {
        do throws(EntryRecord.Fault) {
            entries += try row.entries()
        } catch {
            unreadableCount += 1
            if firstUnreadable == nil { firstUnreadable = (DeviceToken(bytes: row.token), RecordFault(error)) }
        }
    }
}

/// One row of `tokens`, copied out: a token, and the records of its entries one behind the other, in the order of their
/// scopes.
struct TokenRow {
    /// The most rows read in one snapshot.
    static let greatestCount = 10_000

    let token: [UInt8]
    let value: [UInt8]

    static func list(
        _ table: Table, after: [UInt8]?, limit: Int, in snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [TokenRow] {
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> [TokenRow] in
            var rows: [TokenRow] = []
            // The first key above `after` is the first at or above it with a zero behind.
            let start = (after ?? []) + [0]
            var found = try after == nil ? cursor.first() : cursor.seek(atLeast: start.span)
            while found, rows.count < limit {
                cursor.withCurrent { key, value in rows.append(TokenRow(token: key.array, value: value.array)) }
                found = try cursor.next()
            }
            return rows
        }
    }

    /// Whole rows, until there are `limit` entries or no more rows.
    ///
    /// - Parameter rows: reads so many rows behind a token.
    static func page(
        after: DeviceToken?, limit: Int, rows: ([UInt8]?, Int) throws(JournalError) -> [TokenRow]
    ) throws(JournalError) -> BlacklistPage {
        var page = BlacklistPage()
        var last = after?.bytes
        while page.entries.count < limit {
            let wanted = min(limit - page.entries.count, greatestCount)
            let found = try rows(last, wanted)
            for row in found where page.entries.count < limit {
                last = row.token
                page.take(row)
            }
            if found.count < wanted { break }
        }
        return page
    }

    func entries(in directory: String) throws(JournalError) -> [BlacklistEntry] {
        do throws(EntryRecord.Fault) {
            return try entries()
        } catch {
            let name = DeviceToken(bytes: token)?.shortened ?? "a token"
            throw error.error(what: "the blacklist's record of \(name)", in: directory)
        }
    }

    func entries() throws(EntryRecord.Fault) -> [BlacklistEntry] {
        guard let token = DeviceToken(bytes: token) else { throw .damaged("its token has \(token.count) bytes") }
        return try Self.entries(value, token: token)
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
