import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastJournal

/// Files that somebody deletes, moves or replaces while their owner has them open. The kernel lets it go on writing, into
/// files that no start will find.
@Suite("Lost files", .timeLimit(.minutes(1)))
struct LostFilesTests {
    enum Loss: String, CaseIterable, Sendable {
        case deleted = "was deleted"
        case moved = "was moved away"
        case replaced = "was replaced"
        case movedDirectory = "moved away while"

        func happen(to part: String, of scratch: Scratch) throws {
            let files = FileManager.default
            let file = scratch.journal + "/\(part)/data.mdb"
            switch self {
            case .deleted: try files.removeItem(atPath: file)
            case .moved: try files.moveItem(atPath: file, toPath: scratch.path + "/kept.mdb")
            case .replaced:
                // A copy, as a careless restoration leaves it. The old file is gone only now.
                try files.copyItem(atPath: file, toPath: scratch.path + "/copy.mdb")
                try files.removeItem(atPath: file)
                try files.moveItem(atPath: scratch.path + "/copy.mdb", toPath: file)
            case .movedDirectory:
                try files.moveItem(atPath: scratch.journal, toPath: scratch.path + "/old.journal")
            }
        }
    }

    private func appendError(_ journal: LMDBJournal, _ submission: Submission) -> JournalError? {
        #expect(throws: JournalError.self) { _ = try journal.append(submission) }
    }

    /// One that writes when the test says so: all that it was given until then is in one commit.
    private func steppedJournal(in scratch: Scratch) throws -> LMDBJournal {
        var options = LMDBJournal.Options()
        options.stepping = Stepping()
        return try LMDBJournal(directory: scratch.journal, options: options)
    }

    @Test("Nothing is reported as durable that the next start would not find", arguments: Loss.allCases)
    func commit(_ loss: Loss) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let first = try journal.append(0..<3, to: lane)
        let report = Box<CommitReport>()
        try journal.observeCommits { commit in if commit.failure != nil { report.put(commit) } }
        try loss.happen(to: "entries", of: scratch)

        let appended = appendError(journal, submission(3..<6, lane))
        // The file may be put back, so nobody may say that it is not there. (Or a look in passing was first.)
        #expect([.undetermined, .damaged].contains(appended?.code))
        let message = appended?.message ?? ""
        #expect(message.contains(scratch.journal + "/entries/data.mdb"), "\(message)")
        #expect(message.contains(loss.rawValue), "\(message)")
        #expect(try report.get().failure?.code == .damaged)

        // From here on nothing is taken, settled or read.
        #expect(appendError(journal, submission(6..<7, lane))?.code == .damaged)
        let settled = #expect(throws: JournalError.self) { try journal.acknowledge([first], lane) }
        #expect(settled?.code == .damaged)
        let read = #expect(throws: JournalError.self) {
            try journal.unconfirmed(lane, after: .none, through: .max, limit: 9)
        }
        #expect(read?.code == .damaged)
    }

    @Test("What was in the commit that found the file gone is undetermined if it was accepted, and failed otherwise")
    func verdicts() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try steppedJournal(in: scratch)
        let lane = try journal.openLane(immediate).id
        _ = try journal.openProducer("default")
        let (appended, noted) = (Box<Result<Appended, JournalError>>(), Box<Result<Void, JournalError>>())
        journal.append(submission(0..<2, lane)) { appended.put($0) }
        journal.setState(of: lane, to: .paused(reason: "test", since: acceptance)) { noted.put($0) }
        try Loss.deleted.happen(to: "entries", of: scratch)
        while journal.step() != nil {}
        #expect(code(of: try appended.get()) == .undetermined)
        #expect(code(of: try noted.get()) == .damaged)
        journal.crash()
    }

    private func code<Value>(of result: Result<Value, JournalError>) -> JournalError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test("An owner that has nothing to write notices as well", arguments: ["entries", "blacklist"])
    func idle(_ part: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let report = Box<CommitReport>()
        try journal.observeCommits { commit in if commit.failure != nil { report.put(commit) } }
        try Loss.deleted.happen(to: part, of: scratch)
        let failure = try report.get().failure
        #expect(failure?.code == .damaged)
        #expect(failure?.message.contains("\(part)/data.mdb was deleted") == true, "\(failure?.message ?? "")")
    }

    @Test("A token is not reported as blacklisted in a file that the next start would not find")
    func blacklist() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try steppedJournal(in: scratch)
        try Loss.moved.happen(to: "blacklist", of: scratch)
        let added = Box<Result<Void, JournalError>>()
        let entry = SampleJournal.bad(1)
        journal.blacklist.add([entry]) { added.put($0) }
        while journal.stepBlacklist() != nil {}
        #expect(code(of: try added.get()) == .damaged)
        #expect(throws: JournalError.self) { try journal.blacklist.entries(for: entry.recipient) }
        journal.crash()
    }

    @Test("A copy of a shared blacklist whose file is gone is read until it is closed, beside another one in its place")
    func blacklistCopy() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let directory = scratch.path + "/copy"
        var entry = SampleJournal.bad(1)
        entry.number = 1
        let row = BlacklistRow(entry.key, entry)
        let first = try LocalBlacklist.open(directory)
        try first.replace([row], mark: [1])
        #expect(first.ending == nil)
        try FileManager.default.removeItem(atPath: LocalBlacklist.dataFile(in: directory))
        #expect(first.ending?.code == .copyLost)
        let refused = #expect(throws: JournalError.self) { try first.replace([], mark: [2]) }
        #expect(refused?.code == .copyLost)
        first.giveUp()
        let second = try LocalBlacklist.open(directory, anew: true)
        #expect(second.count == 0 && second.mark == nil)
        #expect(try first.entries(for: row.key.recipient).map(\.key) == [row.key])
        first.close()
        try second.replace([row], mark: [3])
        #expect(second.ending == nil && second.mark == [3])
        second.close()
        let next = try LocalBlacklist.open(directory)
        #expect(next.count == 1 && next.mark == [3])
        next.close()
    }

    @Test("A file that is put back before anybody has written was never lost")
    func putBack() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try steppedJournal(in: scratch)
        let lane = try journal.openLane(immediate).id
        _ = try journal.openProducer("default")
        let file = scratch.journal + "/entries/data.mdb"
        try FileManager.default.moveItem(atPath: file, toPath: scratch.path + "/kept.mdb")
        try FileManager.default.moveItem(atPath: scratch.path + "/kept.mdb", toPath: file)
        let appended = Box<Result<Appended, JournalError>>()
        journal.append(submission(0..<2, lane)) { appended.put($0) }
        while journal.step() != nil {}
        #expect(code(of: try appended.get()) == nil)
        journal.crash()
    }

    @Test("Neither an engine nor its journal stays in memory when nobody has them any more")
    func forgotten() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal: LMDBJournal? = try LMDBJournal(directory: scratch.journal)
        weak let left = journal
        do {
            let engine = try PushEngine(
                journal: #require(journal), routes: [Route(connector: InMemoryConnector())])
            _ = engine.status()
        }
        journal?.close()
        journal = nil
        #expect(left == nil)
    }

    @Test("An engine whose journal is taken away accepts nothing more, and ends by saying so")
    func engine() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        async let end: Void = engine.run()
        try Loss.deleted.happen(to: "entries", of: scratch)
        let receipts = await engine.producer.submit([sample(1), sample(2)])
        for receipt in receipts {
            if case .accepted = receipt { Issue.record("accepted into a file that is gone") }
        }
        do {
            try await end
            Issue.record("it goes on")
        } catch {
            #expect((error as? JournalError)?.code == .damaged, "\(error)")
        }
    }
}
