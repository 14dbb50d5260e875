import Holdfast
import HoldfastLMDB

/// Finds out how a file is sealed, from its `facts` as they are stored.
struct SealSearch {
    private let part: JournalPart
    private let keys: JournalKeys?
    private let directory: String

    /// - Parameters:
    ///   - keys: those that are given.
    ///   - directory: the journal's, for messages.
    init(_ part: JournalPart, _ keys: JournalKeys?, in directory: String) {
        (self.part, self.keys, self.directory) = (part, keys, directory)
    }

    /// - Parameter fact: reads a row of `facts` as it is stored; nil where there is none.
    /// - Returns: nil for a file that is not sealed.
    /// - Throws: ``JournalError`` with code `wrongKey` when a key is missing that the file names; nothing was changed then.
    func find(_ fact: ([UInt8]) throws(JournalError) -> [UInt8]?) throws(JournalError) -> JournalSeal? {
        guard let bytes = try fact(SealingRecord.key) else {
            // A new list would be of one key, and all that others have sealed would look damaged.
            guard try isMarked(fact) else { return nil }
            throw .damaged("\(directory)/\(part.file) is sealed, but lacks the list of its keys", in: directory)
        }
        let record: SealingRecord
        do throws(EntryRecord.Fault) { record = try SealingRecord(bytes) } catch {
            throw error.error(what: "the list of the keys of \(part.file)", in: directory)
        }
        guard let keys else { throw .keyNeeded(record.ids, given: [], in: directory) }
        let missing = record.ids.filter { id in keys.key(id) == nil }
        guard missing.isEmpty else { throw .keyNeeded(missing, given: keys.keys.map(\.id), in: directory) }
        guard part == .blacklist else { return try JournalSeal(part, keys, listed: record, index: nil) }
        guard let sealed = try fact(SealingRecord.indexKey) else {
            throw .damaged(
                "\(directory)/\(part.file) is sealed, but lacks the key that hides its recipients", in: directory)
        }
        var row = OpenedRow()
        do throws(EntryRecord.Fault) {
            // Its own, since the key is not known yet that hides the others.
            let seal = TableSeal(.index, try core(keys))
            let key = SealingRecord.indexKey
            try seal.opened(sealed.span, storedKey: key.span, into: &row)
        } catch {
            throw error.error(what: "the key that hides the recipients of \(part.file)", in: directory)
        }
        return try JournalSeal(part, keys, listed: record, index: row.value)
    }

    /// The ids of the keys that a file names; none where it names none, or can't be read.
    static func ids(in finding: DataFile.Finding) -> [SealKeyID] {
        guard let bytes = StoredFacts(finding)?.value(of: SealingRecord.key) else { return [] }
        do throws(EntryRecord.Fault) { return try SealingRecord(bytes).ids } catch { return [] }
    }

    /// In a file that may be damaged: what its facts do not say any more is taken from the keys that are given.
    func findForSalvage(in finding: DataFile.Finding) throws(JournalError) -> JournalSeal? {
        do throws(JournalError) {
            if let seal = try find(in: finding) { return seal }
        } catch {
            guard error.code == .damaged else { throw error }
            return try keys.map { (keys) throws(JournalError) in
                try JournalSeal(part, keys, listed: nil, index: nil)
            }
        }
        // Without the row that every opening writes, nobody can say whether the other one was there.
        let marker = Array((part == .entries ? "format" : "opening").utf8)
        guard let keys, StoredFacts(finding)?.value(of: marker) == nil else { return nil }
        return try JournalSeal(part, keys, listed: nil, index: nil)
    }

    private func core(_ keys: JournalKeys) throws(EntryRecord.Fault) -> SealCore {
        do throws(JournalError) { return try SealCore(keys) } catch { throw .damaged(error.message) }
    }

    /// Whether anything else says that a file is sealed.
    private func isMarked(_ fact: ([UInt8]) throws(JournalError) -> [UInt8]?) throws(JournalError) -> Bool {
        guard part == .entries else { return try fact(SealingRecord.indexKey) != nil }
        guard let format = try fact(Array("format".utf8)), format.count == 4 else { return false }
        return format.span.littleEndian32(at: 0) == SealingRecord.format
    }

    /// In an environment that is open.
    func find(in environment: Environment) throws(JournalError) -> JournalSeal? {
        let facts = try translated("read", directory) { () throws(LMDBError) in
            try ReaderPool.openTables(["facts"], in: environment)?.first?.asStored
        }
        guard let facts else { return nil }
        let pool = ReaderPool(environment)
        defer { pool.close() }
        return try find { (key) throws(JournalError) in
            try translated("read", directory) { () throws(LMDBError) in
                try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                    try snapshot.get(key.span, in: facts)
                } ?? nil
            }
        }
    }

    /// In a file that liblmdb is kept away from.
    func find(in finding: DataFile.Finding) throws(JournalError) -> JournalSeal? {
        let facts = StoredFacts(finding)
        return try find { (key) throws(JournalError) in facts?.value(of: key) }
    }
}

/// The rows of `facts` as they are stored in a file, without liblmdb.
struct StoredFacts {
    private let file: DataFile
    private let table: TreeRecord

    /// - Returns: nil where the table cannot be reached.
    init?(_ finding: DataFile.Finding) {
        guard let file = finding.file else { return nil }
        let walk = FileWalk(file) { _ in
            true
        } fault: { _ in
        }
        guard let table = walk.tables().first(where: { $0.name == "facts" }) else { return nil }
        (self.file, self.table) = (file, table.record)
    }

    func value(of key: [UInt8]) -> [UInt8]? {
        var cursor = TreeCursor(file, table)
        guard cursor.seek(atLeast: key), cursor.key == key else { return nil }
        return cursor.value()
    }
}

extension JournalError {
    /// - Parameter given: the ids of the keys that are there.
    static func keyNeeded(_ missing: [SealKeyID], given: [SealKeyID], in directory: String) -> JournalError {
        let needed = missing.map(\.description).joined(separator: ", ")
        let what =
            given.isEmpty
            ? "no key was given" : "the key file has \(given.map(\.description).joined(separator: ", "))"
        return JournalError(
            .wrongKey,
            "\(directory) is sealed with key \(needed), and \(what). Nothing was changed. Name the file that has the key by "
                + "`journal.key-file`, --key-file or HOLDFAST_JOURNAL_KEY_FILE; without the key nothing in the journal can be read."
        )
    }

    /// A journal of which one file alone is sealed, and that is to be opened with a key.
    static func halfSealed(_ directory: String, _ sealing: JournalSealing) -> JournalError {
        JournalError(
            .wrongKey,
            "\(directory) is sealed by half: \(sealing.words). Nothing was changed. "
                + "`holdfast journal compact --journal \(ShellText.word(directory)) --key-file FILE` again, at rest, seals "
                + "the rest, and with --unseal takes the seals away.")
    }

    /// A journal that is not sealed, and is to be opened with a key.
    static func notSealed(_ directory: String) -> JournalError {
        JournalError(
            .wrongKey,
            "\(directory) is not sealed, and a key was given. Nothing was changed. `holdfast journal compact --journal "
                + "\(ShellText.word(directory)) --key-file FILE` seals it, at rest; or leave the key away.")
    }
}
