package import Holdfast
import HoldfastLMDB

/// Entries of a blacklist, in the order of their recipients and of their scopes.
package struct BlacklistPage: Sendable {
    /// The entries of one recipient come together.
    package var entries: [BlacklistEntry] = []
    /// The number of recipients whose records cannot be read. They are left out.
    package var unreadableCount = 0
    /// The first recipient whose record cannot be read, and the fault.
    package var firstUnreadable: (recipient: Recipient?, fault: RecordFault)?

    /// Nothing.
    package init() {}

    mutating func take(_ row: RecipientRow) {
        do throws(EntryRecord.Fault) {
            entries += try row.entries()
        } catch {
            unreadableCount += 1
            if firstUnreadable == nil { firstUnreadable = (row.recipient, RecordFault(error)) }
        }
    }
}

/// One row of `tokens` or `addresses`, copied out: a recipient's place, and the records of its entries one behind the other,
/// in the order of their scopes.
struct RecipientRow {
    /// The most rows read in one snapshot.
    static let greatestCount = 10_000

    let place: BlacklistPlace
    let value: [UInt8]

    static func list(
        _ table: Table, _ part: BlacklistPlace.Part, after: [UInt8]?, limit: Int, in snapshot: borrowing Snapshot
    ) throws(LMDBError) -> [RecipientRow] {
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) -> [RecipientRow] in
            var rows: [RecipientRow] = []
            var found = if let after { try cursor.seek(above: after.span) } else { try cursor.first() }
            while found, rows.count < limit {
                cursor.withCurrent { key, value in
                    let place = BlacklistPlace(part: part, key: key.array)
                    rows.append(RecipientRow(place: place, value: value.array))
                }
                found = try cursor.next()
            }
            return rows
        }
    }

    /// Whole rows, until there are `limit` entries or no more rows.
    ///
    /// - Parameter rows: reads so many rows behind a place.
    static func page(
        after: Recipient?, limit: Int, rows: (BlacklistPlace?, Int) throws(JournalError) -> [RecipientRow]
    ) throws(JournalError) -> BlacklistPage {
        var page = BlacklistPage()
        var last: BlacklistPlace?
        if let after { last = try BlacklistPlace.of(after) }
        while page.entries.count < limit {
            let wanted = min(limit - page.entries.count, greatestCount)
            let found = try rows(last, wanted)
            for row in found where page.entries.count < limit {
                last = row.place
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
            let name = recipient?.description ?? "a recipient"
            throw error.error(what: "the blacklist's record of \(name)", in: directory)
        }
    }

    /// The recipient by its key, or by its first record's word; nil where neither is one.
    var recipient: Recipient? {
        switch place.part {
        case .tokens: DeviceToken(bytes: place.key).map(Recipient.device)
        case .addresses: AddressRecord.address(Array(value[records[0]])).map(Recipient.service)
        }
    }

    func entries() throws(EntryRecord.Fault) -> [BlacklistEntry] {
        guard place.part == .addresses || DeviceToken(bytes: place.key) != nil else {
            throw .damaged("its token has \(place.key.count) bytes")
        }
        var entries: [BlacklistEntry] = []
        for record in records {
            let entry = try entry(Array(value[record]))
            guard entries.last.map({ $0.recipient == entry.recipient }) ?? true else {
                throw .damaged("its entries are of two recipients")
            }
            guard entries.last.map({ $0.scope < entry.scope }) ?? true else {
                throw .damaged("its entries are not in the order of their topics and endpoints")
            }
            entries.append(entry)
        }
        return entries
    }

    private func entry(_ record: [UInt8]) throws(EntryRecord.Fault) -> BlacklistEntry {
        guard let token = place.part == .tokens ? DeviceToken(bytes: place.key) : nil else {
            return try AddressRecord.read(record, key: place.key)
        }
        return try TokenRecord.read(record, token: token)
    }

    /// The records of a row's value, by their own words of their lengths, damaged or not. At least one, and they cover the
    /// value: one whose length can't be true takes the rest.
    var records: [Range<Int>] {
        var records: [Range<Int>] = []
        var start = 0
        repeat {
            let length = byteCount(at: start) ?? value.count
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

    /// The value for entries of one recipient, whose place has this key.
    static func bytes(_ entries: [BlacklistEntry], key: [UInt8]) -> [UInt8] {
        entries.flatMap { entry in
            switch entry.recipient {
            case .device(let token): TokenRecord.bytes(entry, token)
            case .service(let address): AddressRecord.bytes(entry, address, key: key)
            case .channel: preconditionFailure("a channel has no place on the blacklist")
            }
        }
    }

    private func byteCount(at start: Int) -> Int? {
        place.part == .tokens
            ? TokenRecord.byteCount(value.span, at: start) : AddressRecord.byteCount(value.span, at: start)
    }

    /// The greatest number that the row's records say they have, damaged or not.
    var uncheckedNumber: UInt64 {
        records.reduce(0) { greatest, record in
            let start = record.lowerBound
            return max(
                greatest,
                place.part == .tokens
                    ? TokenRecord.uncheckedNumber(value.span, at: start)
                    : AddressRecord.uncheckedNumber(value.span, at: start))
        }
    }
}
