import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB

/// A journal to be damaged: its two files in memory, and what is in them.
struct FuzzJournal {
    let entries: [UInt8]
    let blacklist: [UInt8]
    /// Rows of all tables of both files.
    let content: Content

    static func all(in folder: String) throws -> [FuzzJournal] {
        try [
            make(folder + "/small.journal", rounds: 1, batch: 12),
            make(folder + "/busy.journal", rounds: 12, batch: 60),
            make(folder + "/compact.journal", rounds: 6, batch: 40, compacted: true),
        ]
    }

    private static func make(
        _ path: String, rounds: Int, batch: Int, compacted: Bool = false
    ) throws -> FuzzJournal {
        var options = LMDBJournal.Options()
        options.durability = .process
        let journal = try LMDBJournal(directory: path, options: options)
        try JournalLife(journal).live(rounds: rounds, batch: batch)
        journal.close()
        if compacted { _ = try JournalCompaction.run(directory: path) }
        let entries = try used(path + "/entries/data.mdb")
        let blacklist = try used(path + "/blacklist/data.mdb")
        return FuzzJournal(entries: entries, blacklist: blacklist, content: try Content(of: path))
    }

    /// A file is allocated far ahead; what was never used is left out.
    private static func used(_ path: String) throws -> [UInt8] {
        guard let file = try DataFile.find(path).file else { throw Failure("\(path) has no meta page") }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        return Array(bytes[..<((Int(file.lastPage) + 1) * file.pageByteCount)])
    }

    static func write(_ entries: [UInt8], _ blacklist: [UInt8], to path: String) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: path)
        for (name, bytes) in [("entries", entries), ("blacklist", blacklist)] {
            try files.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name + "/data.mdb"))
        }
        try Data().write(to: URL(fileURLWithPath: path + "/owner.lock"))
    }
}

/// All rows of a journal, read without liblmdb.
struct Content: Equatable {
    struct Key: Hashable {
        let table: String
        let key: [UInt8]
    }

    var rows: [Key: [UInt8]] = [:]
    /// Where in `entries/data.mdb` the record of a row of the tables of entries lies.
    var places: [Key: Int] = [:]

    init(of path: String) throws {
        for part in ["entries", "blacklist"] {
            guard let file = try DataFile.find(path + "/\(part)/data.mdb").file else { continue }
            let walk = FileWalk(file) { _ in
                true
            } fault: { _ in
            }
            for table in walk.tables() {
                walk.walk(table.record, name: table.name) { key, value, _ in
                    rows[Key(table: part + "." + table.name, key: key)] = value.array
                }
            }
        }
    }

    static func == (lhs: Content, rhs: Content) -> Bool { lhs.rows == rhs.rows }

    /// The unconfirmed entries: UID and record.
    var unconfirmed: [(uid: UInt64, record: [UInt8])] {
        rows.compactMap { key, value in
            switch key.table {
            case "entries.entries": (Self.uid(key.key[4...]), value)
            case "entries.deferred": (Self.uid(key.key[12...]), value)
            default: nil
            }
        }
    }

    func has(_ table: String, _ uid: UInt64) -> Bool {
        rows[Key(table: "entries." + table, key: (0..<8).map { UInt8(truncatingIfNeeded: uid >> (56 - 8 * $0)) })]
            != nil
    }

    private static func uid(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
