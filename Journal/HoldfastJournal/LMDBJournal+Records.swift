public import Holdfast
import HoldfastLMDB

/// What is kept beside unconfirmed entries: Producers, outcomes, rejections, and what became of an entry.
extension LMDBJournal {
    public func backlog(of producer: ProducerID) -> Int {
        shared.withLock { shared in
            let number = producer.rawValue
            return shared.state.hasProducer(number) ? shared.state.producers[Int(number) - 1].unconfirmed : 0
        }
    }

    public func producers() throws(JournalError) -> [ProducerStatus] {
        try checkOpen()
        return shared.withLock { shared in shared.state }.producerStatuses
    }

    public var outcomeCount: Int { shared.withLock { shared in shared.figures.outcomes } }

    public func outcomes(after: UID, limit: Int) throws(JournalError) -> [Outcome] {
        try checkOpen()
        let names = shared.withLock { shared in shared.state.producerNames }
        return try UIDRow.list(
            after: after, limit: limit, table: tables.outcomes,
            page: { (choice) throws(JournalError) in try page(choice) },
            read: { row in
                do throws(EntryRecord.Fault) {
                    return try OutcomeRecord.read(row.value, uid: row.uid, producers: names)
                } catch {
                    // `journal verify` names it.
                    return nil
                }
            })
    }

    public func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection] {
        try checkOpen()
        let (names, lanes) = shared.withLock { shared in (shared.state.producerNames, shared.state.lanes.all) }
        return try UIDRow.list(
            after: after, limit: limit, table: tables.rejections,
            page: { (choice) throws(JournalError) in try page(choice) },
            read: { row in
                do throws(EntryRecord.Fault) {
                    return try Rejection(row.value, uid: row.uid, producers: names, lanes: lanes)
                } catch {
                    // `journal verify` names it.
                    return nil
                }
            })
    }

    private func page(_ choice: UIDRow.Choice) throws(JournalError) -> [UIDRow] {
        try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in try UIDRow.page(choice, in: snapshot) }
    }

    public func fate(of uid: UID) throws(JournalError) -> EntryFate? {
        try checkOpen()
        guard uid > .none else { return nil }
        let found = try read("read") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try FateSearch(uid.rawValue, in: snapshot, tables)
        }
        return try found.fate(in: directory)
    }
}

extension JournalState {
    var producerStatuses: [ProducerStatus] {
        producers.enumerated().map { index, figures in
            ProducerStatus(
                id: ProducerID(rawValue: UInt16(index) + 1), name: producerNames[index],
                unconfirmed: figures.unconfirmed, totals: figures.totals)
        }
    }
}

extension Rejection {
    /// - Parameters:
    ///   - bytes: a row of `rejections`.
    ///   - producers: the names, Producer 1 first.
    ///   - lanes: lane 1 first.
    init(_ bytes: [UInt8], uid: UInt64, producers: [String], lanes: [LaneRecord]) throws(EntryRecord.Fault) {
        let rejection = try RejectionRecord.read(bytes.span).get()
        let record = Array(bytes[rejection.record])
        // The key has no lane; the record says which.
        let lane = EntryRecord.uncheckedHead(record.span).lane
        let entry = try EntryRecord.read(record.span, lane: lane, uid: uid).get()
        self.init(
            uid: UID(uid), cause: rejection.cause, attempts: Int(entry.head.attempts),
            producer: producers.name(of: entry.head.producer), lane: lanes[checked: lane]?.key,
            notification: PushNotification(try entry.fields(in: record), in: record))
    }
}

extension EntryRecord {
    /// - Parameter bytes: the record.
    func fields(in bytes: [UInt8]) throws(Fault) -> PackedNotification.Fields {
        do throws(PackedNotification.Damage) {
            return try PackedNotification.Fields(bytes.span, in: body)
        } catch {
            if case .version(let version) = error { throw .newer(version) }
            throw .damaged("its notification is \(error)")
        }
    }
}

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
