import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastLMDB
import Testing

@Suite("Opening")
struct OpeningTests {
    private func code(_ body: () throws -> Void) -> JournalError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? JournalError)?.code
        }
    }

    @Test("A journal is private to its user: directories 0700, files 0600")
    func permissions() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal + "/")
        defer { journal.close() }
        let files = FileManager.default
        for directory in ["", "/entries", "/blacklist"] {
            #expect(try files.mode(scratch.journal + directory) == 0o700)
        }
        for file in ["entries/data.mdb", "entries/lock.mdb", "blacklist/data.mdb", "blacklist/lock.mdb", "owner.lock"] {
            #expect(try files.mode(scratch.journal + "/" + file) == 0o600)
        }
    }

    @Test("A look at the place says what an opening would, and changes nothing")
    func examine() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        #expect(try !LMDBJournal.examine(scratch.journal))
        #expect(!FileManager.default.fileExists(atPath: scratch.journal))
        try FileManager.default.createDirectory(atPath: scratch.journal, withIntermediateDirectories: false)
        #expect(try !LMDBJournal.examine(scratch.journal))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.journal) == [])
        try LMDBJournal(directory: scratch.journal).close()
        #expect(try LMDBJournal.examine(scratch.journal))
        let file = scratch.path + "/file"
        try Data().write(to: URL(fileURLWithPath: file))
        for path in [file, scratch.path + "/no/such"] {
            #expect(code { _ = try LMDBJournal.examine(path) } == .notFound)
            #expect(code { _ = try LMDBJournal(directory: path) } == .notFound)
        }
    }

    @Test("What this user may not do is told without a guess at modes")
    func notPermitted() {
        let error = JournalError(LMDBError(.access, "open", path: "/j/owner.lock"), "lock", "/j")
        #expect(error.code == .permissionDenied)
        #expect(error.message.contains(". This user may not: run this as the user to whom /j belongs;"))
        let readOnly = JournalError(LMDBError(.readOnly, "open", path: "/j/owner.lock"), "lock", "/j")
        #expect(readOnly.code == .readOnly && readOnly.message.contains("mount it for writing"), "\(readOnly.message)")
    }

    @Test("Nothing is made when it is not to be made")
    func notFound() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.create = false
        #expect(code { _ = try LMDBJournal(directory: scratch.journal, options: options) } == .notFound)
        #expect(code { _ = try JournalReader(directory: scratch.journal) } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: scratch.journal))
        #expect(code { _ = try LMDBJournal(directory: scratch.path + "/no/where.journal") } == .notFound)
    }

    @Test("A second owner in the same process is refused, and told who the first is")
    func secondOwner() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect {
            _ = try LMDBJournal(directory: scratch.journal)
        } throws: { error in
            guard let error = error as? JournalError else { return false }
            return error.code == .ownedByAnotherProcess
                && error.message.contains("process \(ProcessInfo.processInfo.processIdentifier)")
        }
        // The refusal must not have cost the first its locks.
        let lane = try journal.openLane(immediate).id
        #expect(try journal.append(0..<1, to: lane) == UID(1))
    }

    @Test("A second owner in another process is refused, and told the first one's number")
    func secondProcess() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let path = scratch.journal
        let ready = Signpost(path: scratch.path + "/ready")
        let done = Signpost(path: scratch.path + "/done")
        async let child = #expect(processExitsWith: .success) {
            [path = path as String, ready = ready.path as String, done = done.path as String] in
            let journal = try LMDBJournal(directory: path)
            let lane = try journal.openLane(immediate).id
            _ = try journal.append(0..<3, to: lane)
            Signpost(path: ready).raise("\(ProcessInfo.processInfo.processIdentifier)")
            _ = try await Signpost(path: done).wait()
            journal.close()
        }
        let process = try await ready.wait()
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: path) }
        #expect(error?.code == .ownedByAnotherProcess)
        #expect(error?.message.contains("process \(process) (") == true)
        let reader = try JournalReader(directory: path)
        #expect(reader.owner?.contains("process \(process) (") == true)
        #expect(try reader.entries(limit: 10).map(\.uid) == uids(1...3))
        reader.close()
        done.raise()
        _ = await child
        // The kernel let the lock go.
        let journal = try LMDBJournal(directory: path)
        #expect(try journal.status().unconfirmed == 3)
        journal.close()
    }

    @Test("A record that was changed on disk is reported with its lane and UID; those before it are still given out")
    func damagedRecord() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<10, to: lane)
        journal.close()
        try patch(scratch.journal + "/entries/data.mdb") { data in
            // The payload of notification 5, which is UID 6, wherever copies of its page lie.
            var from = data.startIndex
            while let found = data.range(of: Data("{\"n\":5,".utf8), in: from..<data.endIndex) {
                data[found.lowerBound + 1] ^= 0x20
                from = found.upperBound
            }
        }
        journal = try LMDBJournal(directory: scratch.journal)
        let found = try journal.unconfirmed(lane, after: .none, through: .max, limit: 100)
        #expect(found.items.map(\.uid) == uids(1...5) + uids(7...10))
        #expect(found.unreadable.map(\.uid) == [UID(6)])
        // Deferring must not hide the damage under a new checksum, and rejecting gets it out of the way.
        try journal.settle(
            UID(6), lane, .deferUntil(.init(milliseconds: 1), attempts: 1, reason: .shutdown, possiblySent: false))
        _ = try journal.promote(lane, now: 1)
        let again = try journal.unconfirmed(lane, after: UID(5), through: .max, limit: 100)
        #expect(again.unreadable.map(\.uid) == [UID(6)])
        try journal.settle(UID(6), lane, .reject(rejection))
        #expect(try journal.uids(lane) == uids(1...5) + uids(7...10))
        journal.close()
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.entries(limit: 100).map(\.uid) == uids(1...5) + uids(7...10))
        #expect(try reader.entry(UID(6)) == nil)
        // Whatever is looked for there: nobody can say that this is not it.
        var filter = EntryFilter()
        filter.topics = ["none.such"]
        var listing = reader.listing(matching: filter)
        #expect(try listing.next()?.isEmpty == true)
        #expect(listing.unreadable == [UID(6)])
        #expect(listing.firstFault?.message.contains("UID 6") == true)
        filter.uids = UIDRanges([7...10])
        listing = reader.listing(matching: filter)
        #expect(try listing.next()?.isEmpty == true)
        #expect(listing.unreadable.isEmpty)
    }

    @Test(
        "A data file that is not what it says is refused before liblmdb can die of it",
        arguments: ["truncated", "meta", "root"])
    func damagedFile(how: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<1000, to: lane)
        let pages = try DataFile.highWaterPages(scratch.journal + "/entries")
        journal.close()
        try patch(scratch.journal + "/entries/data.mdb") { data in
            switch how {
            case "truncated": data.removeLast(data.count - (pages - 3) * 4096)
            case "meta": data.resetBytes(in: 4096..<8192)
            default:
                // Every page but the metas: the roots are among them.
                data.resetBytes(in: 8192..<pages * 4096)
            }
        }
        #expect(code { _ = try LMDBJournal(directory: scratch.journal) } == .damaged)
        #expect(code { _ = try JournalReader(directory: scratch.journal) } == .damaged)
    }

    @Test(
        "A journal that the power left half made is made anew: nothing can have been in it",
        arguments: ["entries", "blacklist"],
        ["no metas", "first meta", "second meta", "cut short", "with pages", "no commit"]
    )
    func halfMade(environment: String, how: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let file = scratch.journal + "/" + environment + "/data.mdb"
        do {
            // As liblmdb makes it, in a directory that says that it is being made.
            try FileManager.default.createDirectory(
                atPath: scratch.journal + "/" + environment, withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: scratch.journal + "/incomplete", contents: Data()))
            try Environment.open(scratch.journal + "/" + environment, .readWrite, mapByteCount: nil, tables: 8).close()
        }
        try patch(file) { data in
            switch how {
            case "no metas": data.resetBytes(in: 0..<8192)
            case "first meta": data.resetBytes(in: 4096..<8192)
            case "second meta": data.resetBytes(in: 0..<4096)
            case "cut short": data.removeLast(512)
            case "no commit": break
            default:
                data.resetBytes(in: 0..<4096)
                data.append(contentsOf: [UInt8](repeating: 0xAB, count: 40_000))
            }
        }
        if environment == "entries" {
            #expect(code { _ = try JournalReader(directory: scratch.journal) } == .notFound)
            var options = LMDBJournal.Options()
            options.create = false
            #expect(code { _ = try LMDBJournal(directory: scratch.journal, options: options) } == .notFound)
        }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(try journal.append(0..<3, to: try journal.openLane(immediate).id) == UID(1))
        #expect(journal.blacklist.count == 0 && journal.blacklist.damageCount == 0)
    }

    @Test("A journal of a newer format is refused, and nothing in it is touched")
    func newerFormat() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        let file = scratch.journal + "/entries"
        do {
            let environment = try Environment.open(file, .readWrite, mapByteCount: nil, tables: 32)
            defer { environment.close() }
            let transaction = try WriteTransaction(environment)
            let facts = try transaction.table("facts")
            try transaction.put(Array("format".utf8).span, [5, 0, 0, 0].span, in: facts)
            try transaction.commit()
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: file + "/data.mdb"))
        #expect(code { _ = try LMDBJournal(directory: scratch.journal) } == .newerFormat)
        #expect(code { _ = try JournalReader(directory: scratch.journal) } == .newerFormat)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + "/data.mdb")) == before)
    }

    @Test("An unsynced journal survives its process's close like any other")
    func processDurability() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.durability = .process
        var journal = try LMDBJournal(directory: scratch.journal, options: options)
        _ = try journal.append(0..<100, to: try journal.openLane(immediate).id)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(try journal.uids(try journal.openLane(immediate).id) == uids(1...100))
    }

    @Test("A journal given up without close lets everything go")
    func deinitialised() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        for round: UInt64 in 0..<3 {
            let journal = try LMDBJournal(directory: scratch.journal)
            #expect(try journal.append(0..<1, to: try journal.openLane(immediate).id) == UID(round + 1))
        }
    }
}
