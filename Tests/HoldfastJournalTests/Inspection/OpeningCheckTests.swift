import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastJournal
@testable import HoldfastLMDB

/// Damage that is found before liblmdb meets it, and what is done about a blacklist that lets tokens through.
@Suite("Damage found at an opening", .timeLimit(.minutes(1)))
struct OpeningCheckTests {
    private static let tokenCount = 1500

    private static func options(pages: Int) -> LMDBJournal.Options {
        var options = LMDBJournal.Options()
        options.pagesCheckedAtOpening = pages
        return options
    }

    /// Makes a journal with a blacklist and some entries.
    private func journal(_ scratch: Scratch) throws -> SampleJournal {
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        try journal.blacklist.add((0..<Self.tokenCount).map { SampleJournal.bad($0) })
        _ = try journal.append(0..<300, to: try journal.openLane(immediate).id)
        return try SampleJournal(existing: scratch.journal)
    }

    /// A byte of the key of one token, in its leaf, in the branch above it, or of its value.
    private func flip(_ journal: SampleJournal, token number: Int, at offset: Int) throws {
        let token = try #require(sample(number).token).bytes
        try patch(journal.blacklist) { data in
            var from = data.startIndex
            var places: [Int] = []
            while let found = data.range(of: Data(token), in: from..<data.endIndex) {
                places.append(found.lowerBound)
                from = found.upperBound
            }
            for place in places { data[place + offset] ^= 1 }
        }
    }

    @Test(
        "A token whose key is damaged is counted, wherever the damage is; a sound blacklist has none",
        arguments: [0, 1, 9, 31])
    func key(_ offset: Int) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let sample = try journal(scratch)
        do {
            let sound = try LMDBJournal(directory: scratch.journal)
            defer { sound.close() }
            #expect(sound.blacklist.damageCount == 0)
        }
        try flip(sample, token: 700, at: offset)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.blacklist.damageCount > 0)
    }

    @Test("A blacklist too large to be looked through first is looked through afterwards, and whoever listens is told")
    func large() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let sample = try journal(scratch)
        for isDamaged in [false, true] {
            if isDamaged { try flip(sample, token: 700, at: 1) }
            let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(pages: 3))
            let told = Box<Int>()
            journal.blacklist.observeDamage { count in told.put(count) }
            if isDamaged { #expect(try told.get() > 0) }
            // Waits for what is under way.
            journal.close()
            #expect((journal.blacklist.damageCount > 0) == isDamaged)
        }
    }

    @Test("An engine says that the blacklist is damaged, and does not take itself for drained")
    func engine() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try flip(try journal(scratch), token: 700, at: 1)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            guard case .damaged(let words) = await engine.untilIdle() else {
                Issue.record("it takes the journal for drained")
                return
            }
            #expect(words.contains("blacklist") && words.contains("--salvage"), "\(words)")
            #expect(engine.status().blacklistDamage > 0 && engine.status().unconfirmed == 0)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// What the first child of the root of the entries' tree is made to be.
    static let structures: [(name: String, child: @Sendable (_ root: UInt64) -> UInt64)] = [
        ("its own root", { root in root }), ("a meta page", { _ in 1 }),
        ("a page far beyond the end", { _ in 0x7F00_0000 }),
        ("the list of tables", { _ in 0 }),
    ]

    @Test(
        "A tree that leads to itself, or nowhere, is refused as damaged, and the page is named",
        arguments: structures.indices)
    func structure(_ index: Int) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let sample = try journal(scratch)
        let file = try #require(try HoldfastLMDB.DataFile.find(sample.entries).file)
        let walk = FileWalk(file) { _ in
            true
        } fault: { _ in
        }
        let tables = walk.tables()
        let root = try #require(tables.first { $0.name == "entries" }).record.root
        var child = Self.structures[index].child(root)
        if child == 0 { child = file.meta.tables.root }
        try patch(sample.entries) { data in
            let page = Int(root) * file.pageByteCount
            let node = page + Int(data[page + 16]) + Int(data[page + 17]) << 8
            for byte in 0..<4 { data[node + byte] = UInt8(truncatingIfNeeded: child >> (8 * UInt64(byte))) }
        }
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(error?.code == .damaged)
        let message = error?.message ?? ""
        #expect(message.contains("entries/data.mdb, page") && message.contains("--salvage"), "\(message)")
    }

    @Test("A list of free pages that names one in use is refused: the next commit would write over it")
    func freeList() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let sample = try journal(scratch)
        let file = try #require(try HoldfastLMDB.DataFile.find(sample.entries).file)
        try patch(sample.entries) { data in
            // The last page number of the last row: nodes lie from the end of the page down, so the first that was put.
            let page = Int(file.freeListTree.root) * file.pageByteCount
            let node = page + Int(data[page + 16]) + Int(data[page + 17]) << 8
            let count = Int(data[node]) + Int(data[node + 1]) << 8
            let last = node + 8 + 8 + count - 8
            let used = file.meta.tables.root
            for byte in 0..<8 { data[last + byte] = UInt8(truncatingIfNeeded: used >> (8 * UInt64(byte))) }
        }
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(error?.code == .damaged, "\(error?.message ?? "it opens")")
    }
}
