import Holdfast
import HoldfastLMDB

/// The environment `entries/`: its tables, and how they are opened and recovered.
struct EntriesStore: Sendable {
    struct Tables: Sendable {
        let entries: Table
        let deferred: Table
        let deferredIndex: Table
        let rejections: Table
        let outcomes: Table
        let identities: Table
        let lanes: Table
        let producers: Table
        let facts: Table
        let notes: Table
        /// Entries kept aside; nil in a journal that no newer Holdfast has opened for writing yet.
        let aside: AsideTables?
        /// Absent only in a journal of an older version that is open for reading.
        let quarantine: Table?
        /// The log of outcomes; absent as ``quarantine`` is.
        let outcomeLog: OutcomeTables?
        /// Of entries of which the newest wins. Absent as ``quarantine`` is.
        let newest: Table?

        /// Tables of the first format.
        static let firstNames = [
            "entries", "deferred", "deferredIndex", "rejections", "outcomes", "identities", "lanes", "producers",
            "facts", "notes",
        ]
        /// Tables that were added since. An older journal has them from its next opening for writing on.
        static let addedNames = ["quarantine", "newest"]
        static let names = firstNames + addedNames

        /// All but those of the log of outcomes.
        let others: [Table]
        /// The names of all tables, including the tables that some journals lack.
        static let everyName = names + AsideTables.names + OutcomeTables.names
        /// Of ``everyName``, those that a journal of format 2 may lack.
        static let newestNames = ["newest"] + OutcomeTables.names
        /// The tables that a journal of a format has.
        static func names(in format: UInt32) -> [String] {
            switch format {
            case ...oldestFormat: firstNames
            case ..<logFormat: everyName.filter { !newestNames.contains($0) }
            default: everyName
            }
        }

        /// - Parameters:
        ///   - added: nil for what is not there.
        ///   - aside: in the order of ``AsideTables/names``; nil where the journal has none.
        ///   - outcomeLog: in the order of ``OutcomeTables/names``; nil where the journal has none.
        init(_ tables: [Table], added: [Table?], aside: [Table]?, outcomeLog: [Table]?) {
            (entries, deferred, deferredIndex) = (tables[0], tables[1], tables[2])
            (rejections, outcomes, identities) = (tables[3], tables[4], tables[5])
            (lanes, producers, facts, notes) = (tables[6], tables[7], tables[8], tables[9])
            self.aside = aside.map(AsideTables.init)
            self.outcomeLog = outcomeLog.map(OutcomeTables.init)
            (quarantine, newest) = (added[0], added[1])
            others = tables + added.compactMap(\.self) + (aside ?? [])
        }
    }

    /// The newest format that this Holdfast knows. A journal has the oldest that describes what is in it: see
    /// ``raiseFormat(to:_:_:)``.
    static let formatVersion = sealedFormat
    /// The format of a new journal.
    static let oldestFormat: UInt32 = 1
    /// The format of one that has had entries aside or in quarantine, or blacklisted addresses.
    static let asideFormat: UInt32 = 2
    /// The format of one with a log of outcomes.
    static let logFormat: UInt32 = 3
    /// The format of one with entries that are scheduled, or of which the newest wins, and with superseded ones.
    static let scheduleFormat: UInt32 = 3
    /// The format of a sealed one.
    static let sealedFormat = SealingRecord.format
    /// The newest format of one that is not.
    static let newestUnsealedFormat = logFormat
    static let formatKey = Array("format".utf8)
    static let stateKey = Array("state".utf8)
    /// The limit of the newest opening, for inspectors; nothing is decided by it.
    static let limitKey = Array("limit".utf8)
    /// Tables of this version and room for those of later ones, which an older Holdfast may open to say so.
    static let tableLimit = 32

    let environment: Environment
    let tables: Tables

    /// Reads the format version, if there is one, before anything is changed.
    static func refuseNewerFormat(_ environment: Environment, _ directory: String) throws(JournalError) {
        guard let version = try format(in: environment, directory), version > formatVersion else { return }
        throw JournalError(
            .newerFormat,
            "\(directory) has format \(version); this Holdfast knows up to \(formatVersion). Use a newer one.")
    }

    /// - Returns: nil when there is none.
    static func format(in environment: Environment, _ directory: String) throws(JournalError) -> UInt32? {
        let found = try translated("read", directory) { () throws(LMDBError) -> [UInt8]? in
            guard let facts = try ReaderPool.openTables(["facts"], in: environment)?.first else { return nil }
            return try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) -> [UInt8]? in
                try snapshot.get(formatKey.span, in: facts)
            } ?? nil
        }
        guard let found else { return nil }
        guard found.count == 4 else {
            throw .damaged("\(directory): its format version is not a number", in: directory)
        }
        return found.span.littleEndian32(at: 0)
    }

    /// Opens or makes the tables, in the first of the two synced commits of an opening.
    ///
    /// - Parameter seal: with which the environment's rows are sealed: what it says of itself is put in the same commit.
    init(opening environment: Environment, _ seal: JournalSeal? = nil, directory: String) throws(JournalError) {
        self.environment = environment
        tables = try translated("open", directory) { () throws(LMDBError) in
            let transaction = try WriteTransaction(environment)
            var opened: [Table] = []
            for name in Tables.names { opened.append(try transaction.table(name)) }
            var aside: [Table] = []
            for name in AsideTables.names { aside.append(try transaction.table(name)) }
            var outcomeLog: [Table] = []
            for name in OutcomeTables.names { outcomeLog.append(try transaction.table(name)) }
            let firstCount = Tables.firstNames.count
            let tables = Tables(
                Array(opened[..<firstCount]), added: Array(opened[firstCount...]), aside: aside,
                outcomeLog: outcomeLog)
            // Put also where it is there already: the commit has to have something to write.
            let format = try Self.format(transaction, tables.facts)
            try Self.putFormat(seal == nil ? format : max(format, Self.sealedFormat), transaction, tables.facts)
            try seal?.put(transaction, tables.facts)
            try transaction.commit()
            if environment.access == .readWriteUnsynced { try environment.sync() }
            return tables
        }
    }

    private static func format(
        _ transaction: borrowing WriteTransaction, _ facts: Table
    ) throws(LMDBError) -> UInt32 {
        guard let found = try transaction.get(formatKey.span, in: facts), found.count == 4 else { return oldestFormat }
        return found.span.littleEndian32(at: 0)
    }

    private static func putFormat(
        _ version: UInt32, _ transaction: borrowing WriteTransaction, _ facts: Table
    ) throws(LMDBError) {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(version)
        try transaction.put(formatKey.span, bytes.span, in: facts)
    }

    /// Marks the journal so that older programs refuse it, in the commit that first puts something into it that they would
    /// not understand. Does nothing when it is marked already.
    static func raiseFormat(
        to version: UInt32, _ transaction: borrowing WriteTransaction, _ facts: Table
    ) throws(LMDBError) {
        guard try format(transaction, facts) < version else { return }
        try putFormat(version, transaction, facts)
    }

    /// As ``raiseFormat(to:_:_:)``, in a commit of its own, durable on return. For what lies outside of this environment. From
    /// any thread but the writer's.
    func raiseFormat(to version: UInt32 = asideFormat) throws(LMDBError) {
        let transaction = try WriteTransaction(environment)
        guard try Self.format(transaction, tables.facts) < version else { return }
        try Self.putFormat(version, transaction, tables.facts)
        try transaction.commit()
        if environment.access == .readWriteUnsynced { try environment.sync() }
    }

    /// The second: says that the journal is open. With it both meta pages are rewritten, and what an earlier process left
    /// in them, possibly unsynced, is as durable as it looks.
    func markOpen(
        _ facts: FactsRecord, lanes: [LaneRecord], limit: Int, directory: String
    ) throws(JournalError) {
        try translated("open", directory) { () throws(LMDBError) in
            let transaction = try WriteTransaction(environment)
            let (stateKey, limitKey) = (Self.stateKey, Self.limitKey)
            let bytes = facts.bytes
            let number = NumberRecord.bytes(UInt64(limit), key: limitKey)
            try transaction.put(stateKey.span, bytes.span, in: tables.facts)
            try transaction.put(limitKey.span, number.span, in: tables.facts)
            for (index, lane) in lanes.enumerated() {
                let (key, row) = (Key.lane(UInt32(index) + 1), lane.bytes)
                try transaction.put(key.span, row.span, in: tables.lanes)
            }
            try transaction.commit()
            if environment.access == .readWriteUnsynced { try environment.sync() }
        }
    }

    /// Opens the existing tables for reading.
    ///
    /// - Returns: nil when the journal was never completely made.
    init?(reading environment: Environment, directory: String) throws(JournalError) {
        let tables = try translated("read", directory) { () throws(LMDBError) -> Tables? in
            guard let tables = try ReaderPool.openTables(Tables.firstNames, in: environment) else { return nil }
            var added: [Table?] = []
            for name in Tables.addedNames {
                added.append(try ReaderPool.openTables([name], in: environment)?.first)
            }
            return Tables(
                tables, added: added, aside: try ReaderPool.openTables(AsideTables.names, in: environment),
                outcomeLog: try ReaderPool.openTables(OutcomeTables.names, in: environment))
        }
        guard let tables else { return nil }
        self.environment = environment
        self.tables = tables
    }

    /// The lanes in the order of their numbers, which run from 1 without gaps.
    static func lanes(in snapshot: borrowing Snapshot, _ tables: Tables) throws(LMDBError) -> Result<
        [LaneRecord], EntryRecord.Fault
    > {
        try numbered(
            tables.lanes, in: snapshot, number: { key in Int(key.bigEndian32(at: 0)) },
            read: { (bytes) throws(EntryRecord.Fault) in try LaneRecord(bytes) })
    }

    /// The Producers in the order of their numbers, which run from 1 without gaps.
    static func producers(in snapshot: borrowing Snapshot, _ tables: Tables) throws(LMDBError) -> Result<
        [ProducerRecord], EntryRecord.Fault
    > {
        try numbered(
            tables.producers, in: snapshot, number: { key in Int(key.bigEndian16(at: 0)) },
            read: { (bytes) throws(EntryRecord.Fault) in try ProducerRecord(bytes) })
    }

    private static func numbered<Record>(
        _ table: Table, in snapshot: borrowing Snapshot, number: (Span<UInt8>) -> Int,
        read: ([UInt8]) throws(EntryRecord.Fault) -> Record
    ) throws(LMDBError) -> Result<[Record], EntryRecord.Fault> {
        var records: [Record] = []
        var fault: EntryRecord.Fault?
        try snapshot.withCursor(table) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try cursor.first()
            while found, fault == nil {
                cursor.withCurrent { key, value in
                    guard number(key) == records.count + 1 else {
                        fault = .damaged("their numbers have a gap")
                        return
                    }
                    do throws(EntryRecord.Fault) { records.append(try read(value.array)) } catch { fault = error }
                }
                found = try cursor.next()
            }
        }
        if let fault { return .failure(fault) }
        return .success(records)
    }
}
