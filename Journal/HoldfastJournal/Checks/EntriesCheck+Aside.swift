import Holdfast
import HoldfastLMDB

/// Checks the entries kept aside: their rows, and the order in which their time is over.
extension EntriesCheck {
    /// The tables of entries kept aside, as far as the journal has them. Older journals have none until an opening makes
    /// them.
    var asideTables: [String] {
        AsideTables.names.filter { name in tables.contains { table in table.name == name } }
    }

    func asideRow(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 12 else { return badKey(key, "aside", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 4))
        asideCount += 1
        if check.isOpening { return }
        do throws(EntryRecord.Fault) {
            let row = try AsideRecord.read(value).get()
            let entry = AsideRecord.entry(value)
            let record = try EntryRecord.read(entry.span, lane: lane, uid: uid).get()
            _ = try record.fields(in: entry)
            guard lanes.indices.contains(Int(lane) - 1) else { throw .damaged("there is no lane number \(lane)") }
            guard producers.indices.contains(Int(record.head.producer) - 1) else {
                throw .damaged("there is no Producer number \(record.head.producer)")
            }
            try checkOrder(of: row, lane, uid)
        } catch {
            check.add(
                "what is kept aside: \(error.words)", table: "aside", page: page, lane: lane, uid: uid,
                means: "If a late error denies the notification, it may not go again.")
        }
    }

    private func checkOrder(of row: AsideRecord, _ lane: UInt32, _ uid: UInt64) throws(EntryRecord.Fault) {
        guard !check.torn.contains("asideOrder"),
            let table = tables.first(where: { table in table.name == "asideOrder" })
        else { return }
        let wanted = Key.aside(since: row.since, lane, uid).span.array
        var cursor = TreeCursor(walk.file, table.record)
        if !cursor.seek(atLeast: wanted) || cursor.key != wanted { throw .damaged("it has no place in the order") }
    }

    func checkAside() {
        let (rows, order) = (check.report.rows["aside"], check.report.rows["asideOrder"])
        if let format {
            let added = EntriesStore.Tables.names(in: format).dropFirst(EntriesStore.Tables.firstNames.count)
            for name in added where !tables.contains(where: { table in table.name == name }) {
                check.add("there is no such table", table: name, means: DamageMeaning.missingTable)
            }
        }
        guard check.torn.isDisjoint(with: AsideTables.names), let rows, let order, rows != order else { return }
        check.add(
            "it has \(order) rows for \(rows) entries that are kept aside", table: "asideOrder",
            means: "The outcome of an entry may never be told. Salvage makes the order anew.")
    }
}
