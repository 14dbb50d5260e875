import Foundation
import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("Backup and compaction")
struct CopyTests {
    @Test(
        "A backup opens as a journal with the same entries, all possibly sent, and UIDs far beyond; private and whole")
    func backup() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let original = try SampleJournal(at: scratch.journal)
        let new = scratch.path + "/copy.journal"
        let report = try JournalBackup.run(directory: original.path, destination: new + "/")
        #expect(report.owner == nil && report.rows["entries"] == 70 && report.bytesAfter < report.bytesBefore)
        #expect(try JournalVerification.run(directory: new).isSound)
        let files = FileManager.default
        for directory in ["", "/entries", "/blacklist"] { #expect(try files.mode(new + directory) == 0o700) }
        for file in ["entries/data.mdb", "blacklist/data.mdb", "owner.lock"] {
            #expect(try files.mode(new + "/" + file) == 0o600)
        }
        // Everything that has no word on what was sent is as it was.
        let changed: Set<String> = ["facts", "lanes", "deferred"]
        #expect(try SampleJournal.rows(new, without: changed) == SampleJournal.rows(original.path, without: changed))

        let reader = try JournalReader(directory: original.path)
        let before = try reader.status()
        reader.close()
        let journal = try LMDBJournal(directory: new)
        defer { journal.close() }
        let status = try journal.status()
        #expect(status.unconfirmed == before.unconfirmed && status.possiblySent == status.unconfirmed)
        #expect(status.nextUID.rawValue == before.nextUID.rawValue + 1 << 32)
        #expect(status.totals == before.totals && status.blacklist == before.blacklist)
        let lane = try journal.openLane(immediate).id
        #expect(try journal.append(0..<1, to: lane) == status.nextUID)
        // What was deferred and never sent counts as possibly sent once it is due.
        _ = try journal.promote(lane, now: .max)
        #expect(try journal.unconfirmed(lane, uids: [UID(5)]).items.map(\.isPossiblySent) == [true])
        #expect(try files.contentsOfDirectory(atPath: scratch.path).sorted() == ["copy.journal", "test.journal"])
    }

    @Test("What killed processes have left of their copies is removed by the next, and nothing else is")
    func leftovers()
        throws
    {
        let scratch = Scratch()
        defer { scratch.remove() }
        let original = try SampleJournal(at: scratch.journal)
        let files = FileManager.default
        // A process that has ended, this one, which makes no other copy, and one that lives.
        let ended = Process()
        ended.executableURL = URL(fileURLWithPath: "/bin/true")
        try ended.run()
        ended.waitUntilExit()
        let own = ProcessInfo.processInfo.processIdentifier
        func leave(_ name: String, with part: String = "entries") throws {
            try files.createDirectory(atPath: "\(scratch.path)/\(name)/\(part)", withIntermediateDirectories: true)
        }
        for process in [ended.processIdentifier, own] {
            try leave("copy.journal.partial-\(process)")
            try leave("yesterday.journal.partial-\(process)", with: "scratch")
        }
        try leave("copy.journal.partial-1")
        try leave("photos.partial-\(ended.processIdentifier)", with: "holidays")
        for name in ["copy.journal.partial-x", "copy.journal.partial-", ".partial-7", "partial-7"] { try leave(name) }
        try leave("held.journal.partial-\(own)")
        let held = try OpenFile("\(scratch.path)/held.journal.partial-\(own)", .directory)
        #expect(try held.tryLock(exclusive: false))
        _ = try JournalBackup.run(directory: original.path, destination: scratch.path + "/copy.journal")
        #expect(
            try Set(files.contentsOfDirectory(atPath: scratch.path)) == [
                "copy.journal", "test.journal", "copy.journal.partial-1", "copy.journal.partial-x",
                "copy.journal.partial-", ".partial-7", "partial-7", "photos.partial-\(ended.processIdentifier)",
                "held.journal.partial-\(own)",
            ])
    }

    @Test("Of a journal in use the backup is of one commit, and whose token is bad is on its blacklist")
    func backupInUse() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<2000, to: lane)
        let next = Monitor(1)
        let new = scratch.path + "/copy.journal"
        let report = try JournalBackup.run(directory: scratch.journal, destination: new) { _ in
            // All the while tokens go bad: on the blacklist first, then rejected.
            do {
                for _ in 0..<20 {
                    let uid = next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard uid <= 2000 else { return }
                    try journal.blacklist.add([SampleJournal.bad(uid - 1)])
                    try journal.settle(UID(UInt64(uid)), lane, .reject(rejection))
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(report.owner != nil)
        #expect(next.withLock { $0 } > 20)
        let copy = try JournalReader(directory: new)
        defer { copy.close() }
        let entries = try copy.entries(limit: 3000)
        #expect(entries.count == 2000)
        for entry in entries {
            guard case .rejected = entry.state else { continue }
            #expect(try copy.blacklistEntries(for: entry.notification.recipient).first != nil)
        }
    }

    @Test("Nothing is written over, and of a damaged journal no backup is kept")
    func refused() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let original = try SampleJournal(at: scratch.journal)
        let error = #expect(throws: JournalError.self) {
            try JournalBackup.run(directory: original.path, destination: scratch.path)
        }
        #expect(error?.code == .alreadyExists)
        let file = try Data(contentsOf: URL(fileURLWithPath: original.entries))
        let place = try original.place(of: 10, in: file)
        try patch(original.entries) { data in data[place + 60] ^= 4 }
        let damaged = #expect(throws: JournalError.self) {
            try JournalBackup.run(directory: original.path, destination: scratch.path + "/copy.journal")
        }
        #expect(damaged?.code == .damaged)
        #expect(damaged?.message.contains("--salvage") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["test.journal"])
    }

    @Test("A compaction leaves every row as it was, and the file as small as it can be")
    func compaction() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let original = try SampleJournal(at: scratch.journal, count: 2000)
        do {
            let journal = try LMDBJournal(directory: original.path)
            defer { journal.close() }
            let lane = try journal.openLane(immediate).id
            try journal.acknowledge(uids(10...1900), lane)
        }
        let rows = try SampleJournal.rows(original.path)
        let commit = try #require(try HoldfastLMDB.DataFile.find(original.entries).file?.meta.transaction)
        let report = try JournalCompaction.run(directory: original.path)
        #expect(try SampleJournal.rows(original.path) == rows)
        #expect(try original.verify().isSound)
        #expect(report.bytesAfter < report.bytesBefore / 10)
        #expect(try HoldfastLMDB.DataFile.find(original.entries).file?.meta.transaction == commit)
        #expect(try FileManager.default.mode(original.entries) == 0o600)
        // And it goes on as if nothing had been.
        let journal = try LMDBJournal(directory: original.path)
        let lane = try journal.openLane(immediate).id
        let next = try journal.status().nextUID
        #expect(try journal.append(0..<500, to: lane) == next)
        journal.close()
        #expect(try original.verify().isSound)
    }

    @Test("A journal in use is not compacted, nor one that somebody reads")
    func busy() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try SampleJournal(at: scratch.journal)
        let reader = try JournalReader(directory: scratch.journal)
        let read = #expect(throws: JournalError.self) { try JournalCompaction.run(directory: scratch.journal) }
        #expect(read?.code == .beingRead)
        reader.close()
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let used = #expect(throws: JournalError.self) { try JournalCompaction.run(directory: scratch.journal) }
        #expect(used?.code == .ownedByAnotherProcess)
        // Its locks are still its own.
        _ = try journal.append(0..<1, to: try journal.openLane(immediate).id)
    }

    @Test(
        "A damaged journal is not compacted, and not changed; what an interrupted one has left goes at the next opening"
    )
    func interrupted() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let original = try SampleJournal(at: scratch.journal)
        let left = original.path + "/entries.unfinished"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: left))
        try LMDBJournal(directory: original.path).close()
        #expect(!FileManager.default.fileExists(atPath: left))
        let file = try Data(contentsOf: URL(fileURLWithPath: original.entries))
        let place = try original.place(of: 10, in: file)
        try patch(original.entries) { data in data[place + 60] ^= 4 }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: original.entries))
        let error = #expect(throws: JournalError.self) { try JournalCompaction.run(directory: original.path) }
        #expect(error?.code == .damaged)
        #expect(try Data(contentsOf: URL(fileURLWithPath: original.entries)) == damaged)
        #expect(!FileManager.default.fileExists(atPath: left))
    }
}
