import HoldfastLMDB

/// How far a blacklist has come that is a copy, in its `facts` under "copied": a note, in the words of whoever fills the copy.
enum BlacklistMark {
    static let key = Array("copied".utf8)

    static func put(
        _ mark: [UInt8], _ transaction: borrowing WriteTransaction, _ facts: Table
    ) throws(LMDBError) {
        try transaction.put(key.span, NoteRecord.bytes(mark, name: key).span, in: facts)
    }

    /// - Returns: nil where there is none, or a damaged one.
    static func read(_ snapshot: borrowing Snapshot, _ facts: Table) throws(LMDBError) -> [UInt8]? {
        try snapshot.get(key.span, in: facts).flatMap { value($0) }
    }

    static func value(_ bytes: [UInt8]) -> [UInt8]? {
        do throws(EntryRecord.Fault) { return try NoteRecord.value(bytes, name: key) } catch { return nil }
    }
}
