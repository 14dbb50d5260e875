import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastTesting
import Testing

@testable import HoldfastJournal

/// What becomes of damage that the start does not see (SEMANTICS rule 22).
@Suite("Damage that is met later", .timeLimit(.minutes(1)))
struct DamageMetLaterTests {
    private static func engine(_ journal: LMDBJournal) throws -> PushEngine {
        var configuration = EngineConfiguration()
        configuration.shutdownLimit = .seconds(1)
        return try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector())], configuration: configuration)
    }

    /// Journals notifications through an engine, closes the journal, and runs `damage` on it.
    private func journal(_ scratch: Scratch, count: Int, damage: (SampleJournal) throws -> Void) async throws
        -> LMDBJournal
    {
        do {
            let journal = try LMDBJournal(directory: scratch.journal)
            let engine = try Self.engine(journal)
            let receipts = await engine.producer.submit((0..<count).map { sample($0) })
            #expect(receipts.allSatisfy { receipt in if case .accepted = receipt { true } else { false } })
            journal.close()
        }
        try damage(try SampleJournal(existing: scratch.journal))
        var options = LMDBJournal.Options()
        options.pagesCheckedAtOpening = 0
        return try LMDBJournal(directory: scratch.journal, options: options)
    }

    @Test("A record whose checksum is wrong is moved aside while the engine runs, and all others are delivered")
    func record() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try await journal(scratch, count: 300) { journal in
            let file = try Data(contentsOf: URL(fileURLWithPath: journal.entries))
            let place = try journal.place(of: 150, in: file)
            try patch(journal.entries) { data in data[place + 100] ^= 1 }
        }
        defer { journal.close() }
        let engine = try Self.engine(journal)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(engine.status().confirmed == 299)
        #expect(engine.status().quarantined == 1)
        #expect(try journal.quarantined(after: .none, limit: 9).map(\.uid) == [UID(150)])
    }

    /// Makes the tree of entries name a page that there is not, where the last, or the first, of its leaves should be.
    private func loseLeaf(_ journal: SampleJournal, last: Bool) throws {
        let file = try #require(try HoldfastLMDB.DataFile.find(journal.entries).file)
        let walk = FileWalk(file) { _ in
            true
        } fault: { _ in
        }
        let root = try #require(walk.tables().first { $0.name == "entries" }).record.root
        try patch(journal.entries) { data in
            let page = Int(root) * 4096
            let count = (Int(data[page + 12]) + Int(data[page + 13]) << 8 - 16) / 2
            let slot = page + 16 + (last ? 2 * (count - 1) : 0)
            let node = page + Int(data[slot]) + Int(data[slot + 1]) << 8
            data[node + 3] = 0x7F
        }
    }

    @Test("A page that is not there stops the engine, with a word that says what to do")
    func page() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try await journal(scratch, count: 300) { journal in try loseLeaf(journal, last: false) }
        defer { journal.close() }
        let engine = try Self.engine(journal)
        let error = await #expect(throws: JournalError.self) { try await engine.run() }
        #expect(error?.code == .damaged)
        let message = error?.message ?? ""
        #expect(message.contains(scratch.journal) && message.contains("--salvage"), "\(message)")
    }

    @Test("A commit that meets damage is not made, and nothing is written any more until a reopening")
    func commit() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try await journal(scratch, count: 300) { journal in try loseLeaf(journal, last: true) }
        defer { journal.close() }
        let lane = try journal.openLane(LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)).id
        let report = Box<CommitReport>()
        try journal.observeCommits { commit in if commit.failure != nil { report.put(commit) } }
        let error = #expect(throws: JournalError.self) { try journal.append(0..<1, to: lane) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("--salvage") == true, "\(error?.message ?? "")")
        // The engine hears of it, and stops.
        #expect(try report.get().failure?.code == .damaged)
        let later = #expect(throws: JournalError.self) { try journal.setNote("any", to: [1]) }
        #expect(later?.code == .mustBeReopened)
    }

    /// Has the key of an entry name another lane: it is then out of order, and a search that meets it goes astray.
    ///
    /// - Parameter offset: of the byte in the key: 1 is of the lane, those from 4 on are of the UID.
    private func misplace(
        _ uid: UInt64, in table: String = "entries", byte offset: Int = 1, _ journal: SampleJournal
    ) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: journal.entries))
        let place = try journal.place(of: uid, in: file, table: table)
        let keyByteCount = table == "entries" ? 12 : 20
        try patch(journal.entries) { data in data[place - keyByteCount + offset] ^= 1 }
    }

    @Test(
        "Entries that damage hides are named, nothing waits for them, and all others are delivered",
        arguments: [1, 4, 10])
    func hidden(byte: Int) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try await journal(scratch, count: 300) { journal in try misplace(150, byte: byte, journal) }
        defer { journal.close() }
        let engine = try Self.engine(journal)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            guard case .damaged(let words) = await engine.untilIdle() else {
                Issue.record("it takes the journal for drained, or stopped")
                return
            }
            #expect(words.contains("cannot be reached") && words.contains("--salvage"), "\(words)")
            let status = engine.status()
            #expect(status.unreachable > 0 && status.confirmed >= 149)
            #expect(status.confirmed + status.unreachable == 300)
            #expect(status.unconfirmed == status.unreachable)

            // What comes later is accepted and goes.
            _ = await engine.producer.submit([sample(1000)])
            guard case .damaged = await engine.untilIdle() else {
                Issue.record("the damage is forgotten")
                return
            }
            #expect(engine.status().confirmed == status.confirmed + 1)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("A sound journal has no entry that cannot be reached, whatever is in it; one whose keys are damaged has")
    func census() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let sample = try SampleJournal(at: scratch.journal)
        func unreachable() throws -> [Int] {
            var options = LMDBJournal.Options()
            options.pagesCheckedAtOpening = 0
            let journal = try LMDBJournal(directory: scratch.journal, options: options)
            defer { journal.close() }
            return try [immediate, considerate].map { try journal.unreachable(try journal.openLane($0).id) }
        }
        #expect(try unreachable() == [0, 0])
        try misplace(6, in: "deferred", sample)
        let found = try unreachable()
        #expect(found[0] > 0)
    }

    @Test(
        "What liblmdb says of damaged pages is damage, whichever call meets them",
        arguments: [.fileTooLarge, .badTransaction, .incompatible, .corrupted, .pageNotFound] as [LMDBError.Code])
    func codes(_ code: LMDBError.Code) {
        // Without a limit on files only a damaged page number leads beyond what a file can be.
        let error = JournalError(LMDBError(code, "mdb_txn_commit", path: "x"), "write to", "x.journal")
        #expect(error.code == .damaged && error.message.contains("--salvage"), "\(error.message)")
        #expect(!error.message.contains("Make room"))
    }

    @Test("A file that may not grow beyond a limit is want of room, and no damage")
    func limited() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            limit.rlim_cur = 1 << 30
            limit.rlim_max = rlim_t.max
            // 1 is RLIMIT_FSIZE.
            guard unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0 else { fatalError("no limit on files") }
            let error = JournalError(LMDBError(.fileTooLarge, "mdb_txn_commit", path: "x"), "write to", "x.journal")
            #expect(error.code == .diskFull)
            #expect(error.message.contains("`ulimit -f`") && !error.message.contains("Make room on the file system"))
        }
    }

    @Test("A full disk and a quota that is used up are told apart")
    func full() {
        for (code, advice) in [(LMDBError.Code.noSpace, "Make room on the file system"), (.overQuota, "quota")] {
            let error = JournalError(LMDBError(code, "mdb_txn_commit", path: "x"), "append to", "x.journal")
            #expect(error.code == .diskFull && error.message.contains(advice), "\(error.message)")
        }
    }

    @Test("A start that is refused says how to salvage")
    func start() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try SampleJournal(at: scratch.journal)
        try patch(journal.entries) { data in data[16] ^= 1 }
        for open in [
            { _ = try LMDBJournal(directory: scratch.journal) }, { _ = try JournalReader(directory: scratch.journal) },
        ] {
            let error = #expect(throws: JournalError.self) { try open() }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("holdfast journal verify --journal \(scratch.journal)") == true)
        }
    }
}
