import Foundation
import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("Verification")
struct VerifyTests {
    private func sample(_ body: (SampleJournal) throws -> Void) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try body(try SampleJournal(at: scratch.journal))
    }

    /// What is said of a journal whose rows were changed.
    private func damage(_ body: (SampleJournal) throws -> Void) throws -> [JournalDamage] {
        var found: [JournalDamage] = []
        try sample { journal in
            try body(journal)
            let report = try journal.verify()
            #expect(report.damageCount == report.damage.count)
            found = report.damage
        }
        return found
    }

    @Test("A journal with everything in it is sound, and is not changed by looking at it")
    func sound() throws {
        try sample { journal in
            let before = try Data(contentsOf: URL(fileURLWithPath: journal.entries))
            let report = try journal.verify()
            #expect(report.damage == [])
            #expect(report.isSound && report.owner == nil && report.remarks == [])
            #expect(report.rows["entries"] == 70 && report.rows["deferred"] == 4 && report.rows["rejections"] == 2)
            #expect(report.rows["outcomeLog"] == 1 && report.rows["identities"] == 40 && report.rows["tokens"] == 40)
            #expect(try Data(contentsOf: URL(fileURLWithPath: journal.entries)) == before)
        }
    }

    @Test("A journal in use is looked at as of one commit, while its owner writes on")
    func inUse() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<500, to: lane)
        let written = Monitor(false)
        let report = try JournalVerification.run(directory: scratch.journal) { progress in
            // In the midst of it, much is settled and appended: every page of the tree is written anew.
            guard progress.phase == "checking entries", !written.withLock({ exchange(&$0, with: true) }) else { return }
            do {
                try journal.acknowledge(uids(1...400), lane)
                try journal.append(500..<900, to: lane)
                try journal.acknowledge(uids(401...600), lane)
                try journal.append(900..<1300, to: lane)
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(written.withLock { $0 })
        #expect(report.damage == [])
        #expect(report.owner != nil)
        #expect(report.rows["entries"] == 500)
        #expect(try JournalVerification.run(directory: scratch.journal).rows["entries"] == 700)
    }

    @Test("A pin that would make a journal in use grow too far is let go, and that is said")
    func pinLimit() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<20_000, to: lane)
        var limits = InspectionLimits()
        limits.time = .zero
        let error = #expect(throws: JournalError.self) {
            try JournalVerification.run(directory: scratch.journal, limits: limits)
        }
        #expect(error?.code == .limitReached)
        #expect(error?.message.contains("longer than 0 s") == true)
        #expect(try journal.slowestReader() == nil)
    }

    @Test("There must be something to look at")
    func nothing() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let error = #expect(throws: JournalError.self) { try JournalVerification.run(directory: scratch.journal) }
        #expect(error?.code == .notFound)
    }

    @Test("A file that is gone or empty is damage, although an opening would make it anew")
    func emptied() throws {
        for name in ["entries", "blacklist"] {
            let found = try damage { journal in
                try Data().write(to: URL(fileURLWithPath: journal.path + "/\(name)/data.mdb"))
            }
            #expect(found.map(\.file) == ["\(name)/data.mdb"])
            let missing = try damage { journal in
                try FileManager.default.removeItem(atPath: journal.path + "/\(name)/data.mdb")
            }
            #expect(missing.first?.what == "the file is not there")
        }
    }

    @Test("A file cut short is damage, and so is one whose normal opening is refused")
    func cut() throws {
        let found = try damage { journal in
            try patch(journal.entries) { data in data = data.prefix(5 * 4096) }
            #expect(throws: JournalError.self) { try JournalReader(directory: journal.path) }
        }
        #expect(found.contains { $0.what.hasPrefix("the file has 20480 bytes, but should have") })
    }

    // MARK: Records

    @Test("A flipped bit in a record is named with its page, table, lane and UID")
    func record() throws {
        let found = try damage { journal in
            let file = try Data(contentsOf: URL(fileURLWithPath: journal.entries))
            let place = try journal.place(of: 10, in: file)
            try patch(journal.entries) { data in data[place + 60] ^= 4 }
        }
        let damage = try #require(found.first)
        #expect(found.count == 1)
        #expect(damage.table == "entries" && damage.lane == 1 && damage.uid == UID(10) && damage.page != nil)
        #expect(damage.what == "the record: its checksum is wrong")
    }

    @Test(
        "A sound record under another's key is damage", arguments: ["entries", "rejections", "identities"])
    func otherKey(_ table: String) throws {
        let found = try damage { journal in
            let rows = try journal.rows(table)
            try journal.put(table, rows[0].key, rows[1].value)
        }
        #expect(found.contains { $0.table == table })
    }

    @Test("A note under another's name, a token's entry under another token, and an unknown fact are damage")
    func unbound() throws {
        let note = try damage { journal in
            let rows = try journal.rows("notes")
            try journal.put("notes", Array("progrest".utf8), rows[0].value)
        }
        #expect(note.count == 1 && note.first?.what.contains("progrest") == true)
        let token = try damage { journal in
            let rows = try journal.rows("tokens", in: "blacklist")
            try journal.put("tokens", rows[0].key, rows[1].value, in: "blacklist")
        }
        #expect(token.map(\.table) == ["tokens"])
        let fact = try damage { journal in try journal.put("facts", Array("formas".utf8), [1, 0, 0, 0]) }
        #expect(fact.map(\.table) == ["facts"])
    }

    @Test("A format that is not this one's, and a limit whose checksum is wrong, are damage")
    func facts() throws {
        let format = Array("format".utf8)
        let limit = Array("limit".utf8)
        let ones = [UInt8](repeating: 1, count: 16)
        for (key, value) in [(format, [5, 0, 0, 0]), (format, [0, 0, 0, 0]), (limit, ones)] {
            let found = try damage { journal in try journal.put("facts", key, value) }
            #expect(found.map(\.table) == ["facts"])
        }
    }

    // MARK: Indexes and figures

    @Test("A deferred entry without its index, and an index without its entry, are damage")
    func index() throws {
        let key = SampleJournal.entryKey(1, 5)
        let without = try damage { journal in try journal.put("deferredIndex", key, nil) }
        #expect(without.contains { $0.table == "deferredIndex" })
        let elsewhere = try damage { journal in
            try journal.put("deferredIndex", key, [UInt8](repeating: 9, count: 8))
        }
        #expect(elsewhere.contains { $0.table == "deferredIndex" && $0.uid == UID(5) })
    }

    @Test("Each figure of a lane is held against what it counts")
    func lane() throws {
        let changes: [(inout LaneRecord) -> Void] = [
            { $0.entries += 1 }, { $0.deferred -= 1 }, { $0.flaggedDeferred = 0 }, { $0.flaggedEntries = 1 },
            { $0.lastUID -= 1 }, { $0.mark = $0.lastUID + 1 }, { $0.lastUID = 1 << 40 },
        ]
        for (index, change) in changes.enumerated() {
            let found = try damage { journal in try journal.changeLane(1, change) }
            #expect(found.contains { $0.table == "lanes" && $0.lane == 1 }, "change \(index)")
        }
        let twice = try damage { journal in try journal.changeLane(2) { $0.key = immediate } }
        #expect(twice.contains { $0.what == "two lanes have the same name" })
    }

    @Test("A Producer's backlog, the totals and the next UID are held against what they count")
    func totals() throws {
        let producer = try damage { journal in
            try journal.change("producers", [0, 1]) { bytes in
                var record = try ProducerRecord(bytes)
                record.figures.unconfirmed += 1
                return record.bytes
            }
        }
        #expect(!producer.isEmpty && producer.allSatisfy { $0.table == "producers" })
        let changes: [(inout FactsRecord) -> Void] = [{ $0.totals.confirmed += 1 }, { $0.nextUID = 20 }]
        for change in changes {
            let found = try damage { journal in
                try journal.change("facts", EntriesStore.stateKey) { bytes in
                    var facts = try FactsRecord(bytes)
                    change(&facts)
                    return facts.bytes
                }
            }
            #expect(!found.isEmpty)
        }
    }

    @Test("An entry in two places is damage, and so is an identity that says otherwise")
    func places() throws {
        let found = try damage { journal in
            // UID 7 in the other lane as well, as if it had been appended twice.
            let entry = try #require(try journal.rows("entries").first { $0.key == SampleJournal.entryKey(1, 7) })
            var moved = entry.value
            var span = moved.mutableSpan
            span.store(UInt32(2), at: 16)
            span.store(XXH64.hash(span.span, from: 8), at: 0)
            try journal.put("entries", SampleJournal.entryKey(2, 7), moved)
            // And the identity of UID 8 as if it had ended.
            let ended = IdentityRecord(identity: Identity(high: 1, low: 7), acceptedAt: 0, outcome: .confirmed)
            try journal.put("identities", SampleJournal.uidKey(8), ended.bytes(uid: 8))
        }
        #expect(found.contains { $0.uid == UID(7) && $0.what.hasPrefix("it is in several places") })
        #expect(found.contains { $0.uid == UID(8) && $0.table == "identities" })
    }

    // MARK: Pages

    @Test("A free list that lists a page in use, or lacks a free one, is damage")
    func freeList() throws {
        // The last page number in the file's free list is raised, so that it names another page.
        let found = try damage { journal in
            let file = try #require(try HoldfastLMDB.DataFile.find(journal.entries).file)
            var row: [UInt8] = []
            let walk = FileWalk(file) { _ in
                true
            } fault: { _ in
            }
            walk.walk(file.freeListTree, name: "free", integerKeys: true) { _, value, _ in
                if value.count > 16 { row = value.array }
            }
            try patch(journal.entries) { data in
                guard let range = data.range(of: Data(row)) else { return }
                // The first listed is the greatest; one less is the next or one that is in use.
                data[range.lowerBound + 8] &-= 1
            }
        }
        #expect(found.contains { $0.table == "free list" || $0.what.contains("neither in use nor free") })
    }

    @Test("Each meta page's fields that anything reads are checked")
    func metas() throws {
        // Number, kind, magic, version, map size, page size, flags, depth, pages, root, last page, commit: of the newest.
        for offset in [0, 10, 16, 20, 32 + 3, 40, 44, 88 + 4, 88 + 6, 88 + 8, 88 + 16, 88 + 32, 88 + 40, 136, 144] {
            let found = try damage { journal in
                let meta = try #require(try HoldfastLMDB.DataFile.find(journal.entries).file?.meta)
                try patch(journal.entries) { data in data[Int(meta.transaction & 1) * 4096 + offset] ^= 0x02 }
            }
            #expect(!found.isEmpty, "byte \(offset)")
        }
    }
}
