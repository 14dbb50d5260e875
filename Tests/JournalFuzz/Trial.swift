import Foundation
import Holdfast
import HoldfastJournal

/// One journal, damaged, verified, and mostly salvaged.
struct Trial {
    /// For one trial, in a debug build on a busy machine.
    static let limit = Duration.seconds(60)

    private let journal: FuzzJournal
    private let path: String
    private let salvages: Bool

    init(_ journal: FuzzJournal, in folder: String, salvages: Bool) {
        self.journal = journal
        path = folder + "/damaged.journal"
        self.salvages = salvages
    }

    func run(_ random: inout Xoshiro256, _ tally: inout Tally) throws {
        var (entries, blacklist) = (journal.entries, journal.blacklist)
        var done: [String] = []
        if Int.random(in: 0..<10, using: &random) == 0 {
            entries = Garbage.file(&random)
            done.append("garbage")
        } else {
            for _ in 0..<(Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 2...5, using: &random) : 1) {
                let damage = Damage.allCases.randomElement(using: &random) ?? .flipBit
                if Int.random(in: 0..<5, using: &random) == 0, !blacklist.isEmpty, blacklist.count >= 4096 {
                    done.append("blacklist: " + damage.apply(to: &blacklist, &random))
                } else if entries.count >= 4096 {
                    done.append(damage.apply(to: &entries, &random))
                }
            }
        }
        do {
            try look(entries, blacklist, &tally)
        } catch {
            throw Failure("\(done.joined(separator: "; ")): \(error)")
        }
    }

    private func look(_ entries: [UInt8], _ blacklist: [UInt8], _ tally: inout Tally) throws {
        try FuzzJournal.write(entries, blacklist, to: path)
        let report = try JournalVerification.run(directory: path)
        if report.isSound {
            tally.sound += 1
            guard try Content(of: path) == journal.content else { throw Failure("damage was called sound") }
            try readWithLiblmdb()
        } else {
            tally.damaged += 1
            if entries == journal.entries, blacklist == journal.blacklist {
                throw Failure("what is sound was called damaged: \(report.damage.first?.what ?? "")")
            }
        }
        guard try Data(contentsOf: URL(fileURLWithPath: path + "/entries/data.mdb")) == Data(entries) else {
            throw Failure("verification has changed the journal")
        }
        guard salvages else { return }
        tally.salvages += 1
        try salvage(entries, isDamaged: !report.isSound)
    }

    /// What was called sound must be so for liblmdb as well: if it is not, it may end this process.
    private func readWithLiblmdb() throws {
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        var last = UID.none
        while let end = try reader.entries(after: last, limit: 1000).last { last = end.uid }
        _ = try reader.blacklistEntries(limit: 100_000)
        _ = try reader.status()
    }

    private func salvage(_ entries: [UInt8], isDamaged: Bool) throws {
        let new = path + ".salvaged"
        try? FileManager.default.removeItem(atPath: new)
        _ = try JournalSalvage.run(directory: path, destination: new)
        let salvaged = try Content(of: new)
        let uids = Set(salvaged.unconfirmed.map(\.uid))
        // Whatever still lies where it lay, undamaged, must have come over.
        for (uid, record) in journal.content.unconfirmed where !uids.contains(uid) {
            guard Search.isThere(record, in: entries) else { continue }
            throw Failure("entry \(uid) lies in the file undamaged, but was not salvaged")
        }
        if !isDamaged {
            guard uids == Set(journal.content.unconfirmed.map(\.uid)) else {
                throw Failure("a sound journal was salvaged into another one")
            }
        }
        // It opens, and is as a journal should be.
        var options = LMDBJournal.Options()
        options.durability = .process
        options.create = false
        let opened = try LMDBJournal(directory: new, options: options)
        let status = try opened.status()
        opened.close()
        guard status.possiblySent == status.unconfirmed else { throw Failure("what was salvaged counts as never sent") }
    }
}

enum Search {
    /// Whether the bytes are anywhere in a file, on pages that are whole.
    static func isThere(_ bytes: [UInt8], in file: [UInt8]) -> Bool {
        Data(file).range(of: Data(bytes)) != nil
    }
}

/// Files that were never a journal, but look like one from afar.
enum Garbage {
    static func file(_ random: inout Xoshiro256) -> [UInt8] {
        let pages = Int.random(in: 0...40, using: &random)
        var bytes = [UInt8](repeating: 0, count: pages * 4096 + Int.random(in: 0..<4096, using: &random))
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
        guard pages >= 3 else { return bytes }
        for page in 0..<pages { head(page, of: pages, &bytes, &random) }
        return bytes
    }

    /// Gives a page a head that makes sense, so that what is in it is looked at.
    private static func head(_ page: Int, of pages: Int, _ bytes: inout [UInt8], _ random: inout Xoshiro256) {
        func store(_ value: UInt64, _ width: Int, at offset: Int) {
            for index in 0..<width {
                bytes[page * 4096 + offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
            }
        }
        func some() -> UInt64 { UInt64.random(in: 0...UInt64(pages), using: &random) }
        store(UInt64(page), 8, at: 0)
        if page < 2 {
            store(8, 2, at: 10)
            store(0xBEEF_C0DE, 4, at: 16)
            store(1, 4, at: 20)
            store(0, 8, at: 24)
            store(1 << 30, 8, at: 32)
            for (start, flags) in [(40, UInt64(8)), (88, UInt64(0))] {
                store(start == 40 ? 4096 : 0, 4, at: start)
                store(flags, 2, at: start + 4)
                store(some() % 4, 2, at: start + 6)
                for offset in stride(from: 8, to: 48, by: 8) { store(some(), 8, at: start + offset) }
            }
            store(UInt64(pages - 1), 8, at: 136)
            store(UInt64(4 + page), 8, at: 144)
            return
        }
        store([1, 2, 4, 2, 1].randomElement(using: &random) ?? 2, 2, at: 10)
        let nodes = Int.random(in: 1...20, using: &random)
        store(UInt64(16 + 2 * nodes), 2, at: 12)
        store(UInt64(4096 - 24 * nodes), 2, at: 14)
        for node in 0..<nodes {
            let start = 4096 - 24 * (node + 1)
            store(UInt64(start), 2, at: 16 + 2 * node)
            store(some(), 8, at: start)
            store(UInt64([8, 12, 16].randomElement(using: &random) ?? 8), 2, at: start + 6)
        }
    }
}
