import Holdfast
import HoldfastLMDB

/// The environment `entries/`: its tables, and how they are opened and recovered.
struct EntriesStore: Sendable {
    struct Tables: Sendable {
        let entries: Table
        let deferred: Table
        let deferredIndex: Table
        let rejections: Table
        let lanes: Table
        let facts: Table
        let notes: Table

        static let names = ["entries", "deferred", "deferredIndex", "rejections", "lanes", "facts", "notes"]

        init(_ tables: [Table]) {
            (entries, deferred, deferredIndex) = (tables[0], tables[1], tables[2])
            (rejections, lanes, facts, notes) = (tables[3], tables[4], tables[5], tables[6])
        }

        var all: [Table] { [entries, deferred, deferredIndex, rejections, lanes, facts, notes] }
    }

    static let formatVersion: UInt32 = 1
    static let formatKey = Array("format".utf8)
    static let stateKey = Array("state".utf8)
    /// Tables of this version and room for those of later ones, which an older Holdfast may open to say so.
    static let tableLimit = 32

    let environment: Environment
    let tables: Tables

    /// Reads the format version, if there is one, before anything is changed.
    static func refuseNewerFormat(_ environment: Environment, _ directory: String) throws(JournalError) {
        let found = try translated("read", directory) { () throws(LMDBError) -> [UInt8]? in
            guard let facts = try ReaderPool.openTables(["facts"], in: environment)?.first else { return nil }
            return try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) -> [UInt8]? in
                try snapshot.get(formatKey.span, in: facts)
            } ?? nil
        }
        guard let found else { return }
        guard found.count == 4 else {
            throw JournalError(.damaged, "\(directory): its format version is not a number")
        }
        let version = found.span.littleEndian32(at: 0)
        guard version <= formatVersion else {
            throw JournalError(
                .newerFormat,
                "\(directory) has format \(version); this Holdfast knows up to \(formatVersion). Use a newer one.")
        }
    }

    /// Opens or makes the tables, and makes two synced commits, which rewrite both meta pages: only then is what an
    /// earlier process left in them, possibly unsynced, as durable as it looks.
    init(opening environment: Environment, facts: inout FactsRecord?, directory: String) throws(JournalError) {
        self.environment = environment
        tables = try translated("open", directory) { () throws(LMDBError) -> Tables in
            let transaction = try WriteTransaction(environment)
            var opened: [Table] = []
            for name in Tables.names { opened.append(try transaction.table(name)) }
            var version: [UInt8] = []
            version.appendLittleEndian(Self.formatVersion)
            let tables = Tables(opened)
            try transaction.put(Self.formatKey.span, version.span, in: tables.facts)
            try transaction.commit()
            return tables
        }
        if environment.access == .readWriteUnsynced {
            try translated("open", directory) { () throws(LMDBError) in try environment.sync() }
        }
        var current = try Self.facts(in: environment, tables, directory) ?? FactsRecord()
        facts = current
        current.openings += 1
        current.closedInOrder = false
        let bytes = current.bytes
        try translated("open", directory) { () throws(LMDBError) in
            let transaction = try WriteTransaction(environment)
            try transaction.put(Self.stateKey.span, bytes.span, in: tables.facts)
            try transaction.commit()
            if environment.access == .readWriteUnsynced { try environment.sync() }
        }
        facts = current
    }

    /// What is there, for reading only.
    ///
    /// - Returns: nil when the journal was never completely made.
    init?(reading environment: Environment, directory: String) throws(JournalError) {
        let tables = try translated("read", directory) { () throws(LMDBError) in
            try ReaderPool.openTables(Tables.names, in: environment)
        }
        guard let tables else { return nil }
        self.environment = environment
        self.tables = Tables(tables)
    }

    static func facts(in environment: Environment, _ tables: Tables, _ directory: String) throws(JournalError) -> FactsRecord? {
        let bytes = try translated("read", directory) { () throws(LMDBError) in
            try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) -> [UInt8]? in
                try snapshot.get(stateKey.span, in: tables.facts)
            } ?? nil
        }
        guard let bytes else { return nil }
        do throws(EntryRecord.Fault) {
            return try FactsRecord(bytes)
        } catch {
            throw error.error(what: "its state", in: directory)
        }
    }

    /// The lanes in the order of their numbers, which run from 1 without gaps.
    static func lanes(in snapshot: borrowing Snapshot, _ tables: Tables) throws(LMDBError) -> Result<[LaneRecord], EntryRecord.Fault> {
        var lanes: [LaneRecord] = []
        var fault: EntryRecord.Fault?
        try snapshot.withCursor(tables.lanes) { (cursor: inout Cursor) throws(LMDBError) in
            var found = try cursor.first()
            while found, fault == nil {
                cursor.withCurrent { key, value in
                    guard key.bigEndian32(at: 0) == UInt32(lanes.count) + 1 else {
                        fault = .damaged("the numbers of the lanes have a gap")
                        return
                    }
                    do throws(EntryRecord.Fault) { lanes.append(try LaneRecord(value.array)) } catch { fault = error }
                }
                found = try cursor.next()
            }
        }
        if let fault { return .failure(fault) }
        return .success(lanes)
    }
}

extension EntryRecord.Fault {
    /// - Parameter what: whose record it is.
    func error(what: String, in directory: String) -> JournalError {
        switch self {
        case .newer(let version):
            JournalError(.newerFormat, "\(directory): \(what) has version \(version), which this Holdfast does not know")
        case .damaged(let fault):
            JournalError(.damaged, "\(directory): \(what) is damaged: \(fault)")
        }
    }
}
