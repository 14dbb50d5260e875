import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPlatform
import Testing

@testable import HoldfastJournal

/// That one process at a time owns a journal, whatever somebody has removed, and whose its files are.
@Suite("Ownership")
struct OwnershipTests {
    private func error(_ body: () throws -> Void) -> JournalError? {
        do {
            try body()
            return nil
        } catch {
            return error as? JournalError
        }
    }

    // MARK: One owner

    @Test("A lock that is a symbolic link is refused, and what it points to stays as it is") func linkedLock() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        let (lock, elsewhere) = (scratch.journal + "/owner.lock", scratch.path + "/elsewhere")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: elsewhere))
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: elsewhere)
        let refusal = error { _ = try LMDBJournal(directory: scratch.journal) }
        #expect(refusal?.code == .permissionDenied)
        #expect(refusal?.message.contains("owner.lock is a symbolic link") == true)
        #expect(error { _ = try LMDBJournal.examine(scratch.journal) }?.message == refusal?.message)
        #expect(try String(contentsOfFile: elsewhere, encoding: .utf8) == "precious")
        try FileManager.default.removeItem(atPath: lock)
        try LMDBJournal(directory: scratch.journal).close()
    }

    @Test(
        "A file of liblmdb's that is a symbolic link is refused by whoever opens, copies or rewrites it, and stays one",
        arguments: ["entries/lock.mdb", "entries/data.mdb", "blacklist/lock.mdb", "blacklist/data.mdb"])
    func linkedFile(name: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        let (file, elsewhere) = ("\(scratch.journal)/\(name)", scratch.path + "/elsewhere")
        let words = "\(file) is a symbolic link, and what is written there would go elsewhere: "
        try FileManager.default.moveItem(atPath: file, toPath: scratch.path + "/was")
        // What is wanted of a data file is sound behind its link: the link alone is what is wrong.
        if name.hasSuffix("data.mdb") {
            try FileManager.default.copyItem(atPath: scratch.path + "/was", toPath: elsewhere)
        } else {
            try Data("precious".utf8).write(to: URL(fileURLWithPath: elsewhere))
        }
        let precious = try Data(contentsOf: URL(fileURLWithPath: elsewhere))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: elsewhere)
        let refusals = [
            error { _ = try LMDBJournal(directory: scratch.journal) },
            error { _ = try LMDBJournal.examine(scratch.journal) },
            error { _ = try JournalReader(directory: scratch.journal) },
            error { _ = try JournalVerification.run(directory: scratch.journal) },
            error { _ = try JournalBackup.run(directory: scratch.journal, destination: scratch.path + "/copy") },
            error { _ = try JournalCompaction.run(directory: scratch.journal) },
        ]
        for refusal in refusals {
            #expect(refusal?.code == .permissionDenied)
            #expect(refusal?.message.hasPrefix(words) == true, "\(refusal?.message ?? "not refused")")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: elsewhere)) == precious)
        // A link that leads nowhere makes no file there.
        try FileManager.default.removeItem(atPath: elsewhere)
        #expect(error { _ = try LMDBJournal(directory: scratch.journal) } != nil)
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: scratch.path + "/was", toPath: file)
        try LMDBJournal(directory: scratch.journal).close()
    }

    @Test(
        "A pipe in the place of a file is refused, and nobody waits for its other end",
        arguments: ["entries/lock.mdb", "entries/data.mdb", "owner.lock"])
    func pipe(name: String) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        let file = "\(scratch.journal)/\(name)"
        try FileManager.default.removeItem(atPath: file)
        let isMade = unsafe mkfifo(file, 0o600) == 0
        try #require(isMade)
        for refusal in [
            error { _ = try LMDBJournal(directory: scratch.journal) },
            error { _ = try JournalReader(directory: scratch.journal) },
        ] {
            #expect(refusal?.code == .permissionDenied)
            #expect(refusal?.message.contains("\(file) is a directory, a pipe or a device") == true)
        }
    }

    @Test(
        "A second owner is refused although somebody has removed the file that names the first",
        arguments: [false, true])
    func removedLock(isMoved: Bool) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        try FileManager.default.removeItem(atPath: scratch.journal + "/owner.lock")
        var path = scratch.journal
        if isMoved {
            path = scratch.path + "/other.journal"
            try FileManager.default.moveItem(atPath: scratch.journal, toPath: path)
        }
        let refusal = error { _ = try LMDBJournal(directory: path) }
        #expect(refusal?.code == .ownedByAnotherProcess)
        #expect(refusal?.message.contains("process \(ProcessInfo.processInfo.processIdentifier)") == true)
        #expect(error { _ = try JournalCompaction.run(directory: path) }?.code == .ownedByAnotherProcess)
        // Inspectors take it for one in use, too.
        let reader = try JournalReader(directory: path)
        #expect(reader.owner != nil)
        reader.close()
    }

    @Test("A new journal whose parent directory is not there is refused by that directory's name")
    func noParent() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let refusal = error { _ = try LMDBJournal(directory: scratch.path + "/no/such.journal") }
        #expect(refusal?.code == .notFound)
        #expect(refusal?.message.contains("there is no directory \(scratch.path)/no yet") == true)
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/no"))
    }

    @Test(
        "The owner is looked up by device and inode: a lock with the same inode on another file system is another file's"
    )
    func holderByDevice() {
        let text = """
            1: FLOCK  ADVISORY  WRITE 27870 00:33:17 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 5 00:32:17 0 EOF
            3: POSIX  ADVISORY  WRITE 6 00:32:17 0 EOF
            4: FLOCK  ADVISORY  READ  27782 00:32:17 0 EOF
            5: FLOCK  ADVISORY  WRITE 8 103:10001:9 0 EOF
            """
        func process(_ inode: UInt64, _ device: UInt64, open: Int32? = nil) -> Int32? {
            LockList.holder(ofInode: inode, device: device, in: text) { $0 == open }?.process
        }
        #expect(process(17, 0x32) == 27782 && process(17, 0x33) == 27870)
        #expect(LockList.holder(ofInode: 17, device: 0x32, in: text) { _ in false }?.isWriter == false)
        // Numbers of devices that do not fit into a byte, as stat(2) packs them.
        #expect(process(9, 0x1001_0301) == 8)
        // No line has the device: nobody, rather than a wrong one, unless the process has this file open.
        #expect(process(17, 0x34) == nil && process(18, 0x32) == nil)
        #expect(process(17, 0x34, open: 27782) == 27782)
    }

    @Test("The process that has a file's lock is found by the kernel's list")
    func holderOfFile() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let holder = LockList.holder(ofFile: scratch.journal + "/owner.lock")
        #expect(holder?.process == ProcessInfo.processInfo.processIdentifier && holder?.isWriter == true)
    }

    @Test("A process that was stopped is known by its state, whatever its name is")
    func stopped() {
        #expect(LockList.isStopped("12 (holdfast) T 1 12 12 0 -1"))
        #expect(LockList.isStopped("12 (a) S (b) t 1 12"))
        #expect(!LockList.isStopped("12 (T) S 1 12") && !LockList.isStopped("12 (a) T (b) R 1"))
        #expect(!LockList.isStopped("") && !LockList.isStopped("12 (a)"))
        #expect(!LockList.isStopped(ProcessInfo.processInfo.processIdentifier))
    }

    @Test("Of two directories that share a data file, one is owned")
    func linked() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let other = scratch.path + "/linked.journal"
        let files = FileManager.default
        for part in ["entries", "blacklist"] {
            try files.createDirectory(atPath: other + "/" + part, withIntermediateDirectories: true)
            try files.linkItem(
                atPath: scratch.journal + "/\(part)/data.mdb", toPath: other + "/\(part)/data.mdb")
        }
        #expect(error { _ = try LMDBJournal(directory: other) }?.code == .ownedByAnotherProcess)
    }

    @Test("An owner is refused while a journal is read at rest without the file that names owners")
    func readWithoutLock() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        try FileManager.default.removeItem(atPath: scratch.journal + "/owner.lock")
        let reader = try JournalReader(directory: scratch.journal)
        #expect(reader.owner == nil)
        #expect(error { _ = try LMDBJournal(directory: scratch.journal) }?.code == .beingRead)
        reader.close()
        try LMDBJournal(directory: scratch.journal).close()
    }

    @Test("An owner of an older Holdfast, which locks the file alone, is respected")
    func oldOwner() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try LMDBJournal(directory: scratch.journal).close()
        let file = try OpenFile(scratch.journal + "/owner.lock", .readWrite)
        #expect(try file.tryLock(exclusive: true))
        defer { file.unlock() }
        #expect(error { _ = try LMDBJournal(directory: scratch.journal) }?.code == .ownedByAnotherProcess)
    }

    // MARK: Missing parts

    @Test(
        "A journal that has lost a part is refused, and what is left of it stays as it is",
        arguments: ["entries", "entries/data.mdb", "blacklist", "blacklist/data.mdb"], [false, true])
    func lostPart(part: String, isEmptied: Bool) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        do {
            let journal = try LMDBJournal(directory: scratch.journal)
            defer { journal.close() }
            try journal.append(0..<3, to: try journal.openLane(immediate).id)
        }
        let path = scratch.journal + "/" + part
        if isEmptied {
            // Of a directory: it is there, and nothing is in it.
            if part.hasSuffix("mdb") {
                try patch(path) { data in data.removeAll() }
            } else {
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        let before = try FileManager.default.subpathsOfDirectory(atPath: scratch.journal).sorted()
        for open in [
            { _ = try LMDBJournal(directory: scratch.journal) }, { _ = try JournalReader(directory: scratch.journal) },
            { _ = try JournalCompaction.run(directory: scratch.journal) },
        ] as [() throws -> Void] {
            let refusal = error(open)
            #expect(refusal?.code == .damaged)
            #expect(refusal?.message.contains(path) == true, "\(refusal?.message ?? "")")
            #expect(refusal?.message.contains("--salvage") == true)
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: scratch.journal).sorted() == before)
        #expect(try !JournalVerification.run(directory: scratch.journal).isSound)
    }

    @Test(
        "Of a journal that has lost its blacklist the entries are salvaged, and of one that has lost its entries the blacklist"
    )
    func salvageWhatIsLeft() throws {
        for part in ["entries", "blacklist"] {
            let scratch = Scratch()
            defer { scratch.remove() }
            do {
                let journal = try LMDBJournal(directory: scratch.journal)
                defer { journal.close() }
                try journal.append(0..<3, to: try journal.openLane(immediate).id)
                try journal.blacklist.add([
                    BlacklistEntry(
                        token: sample(1).token!, reason: .badDeviceToken, since: acceptance, learntAt: acceptance,
                        route: "default")
                ])
            }
            try FileManager.default.removeItem(atPath: scratch.journal + "/" + part)
            let new = scratch.path + "/new.journal"
            _ = try JournalSalvage.run(directory: scratch.journal, destination: new)
            let journal = try LMDBJournal(directory: new)
            defer { journal.close() }
            #expect(try journal.status().unconfirmed == (part == "entries" ? 0 : 3))
            #expect(journal.blacklist.count == (part == "blacklist" ? 0 : 1))
        }
    }

    @Test("A journal whose making was interrupted at any step is made by the next opening, and is none before")
    func interruptedMaking() throws {
        let whole = Scratch()
        defer { whole.remove() }
        try LMDBJournal(directory: whole.journal).close()
        let files = FileManager.default
        // In the order in which they come to be.
        let steps = [
            "incomplete", "entries", "blacklist", "owner.lock", "entries/lock.mdb", "entries/data.mdb",
            "blacklist/lock.mdb", "blacklist/data.mdb",
        ]
        for count in 0...steps.count {
            let scratch = Scratch()
            defer { scratch.remove() }
            try files.createDirectory(atPath: scratch.journal, withIntermediateDirectories: true)
            for step in steps.prefix(count) {
                let (source, target) = (whole.journal + "/" + step, scratch.journal + "/" + step)
                if step == "incomplete" {
                    #expect(files.createFile(atPath: target, contents: Data()))
                } else if ["entries", "blacklist"].contains(step) {
                    try files.createDirectory(atPath: target, withIntermediateDirectories: false)
                } else {
                    try files.copyItem(atPath: source, toPath: target)
                }
            }
            #expect(error { _ = try JournalReader(directory: scratch.journal) }?.code == .notFound)
            let journal = try LMDBJournal(directory: scratch.journal)
            try journal.append(0..<1, to: try journal.openLane(immediate).id)
            journal.close()
            #expect(!files.fileExists(atPath: scratch.journal + "/incomplete"))
            let again = try LMDBJournal(directory: scratch.journal)
            #expect(try again.status().unconfirmed == 1)
            again.close()
        }
    }

    // MARK: Whose the files are

    private static let isRoot = geteuid() == 0
    private static let service = (user: UInt32(1234), group: UInt32(5678))

    private func owner(_ path: String) throws -> [UInt32] {
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        return [facts[.ownerAccountID], facts[.groupOwnerAccountID]].compactMap { ($0 as? NSNumber)?.uint32Value }
    }

    /// A journal of the service's user, made as the tests' user and given away.
    private func makeForService(_ path: String) throws {
        let journal = try LMDBJournal(directory: path)
        try journal.append(0..<3, to: try journal.openLane(immediate).id)
        journal.close()
        for file in [""] + (try FileManager.default.subpathsOfDirectory(atPath: path)) {
            try FileManager.default.setAttributes(
                [.ownerAccountID: Self.service.user, .groupOwnerAccountID: Self.service.group],
                ofItemAtPath: path + "/" + file)
        }
    }

    private func expectServiceOwnsAll(_ path: String) throws {
        for file in [""] + (try FileManager.default.subpathsOfDirectory(atPath: path)) {
            #expect(try owner(path + "/" + file) == [Self.service.user, Self.service.group], "\(file)")
        }
    }

    @Test(
        "A compaction by root leaves the journal to its user, with the modes that its files had",
        .enabled(if: isRoot, "needs root"))
    func compactAsRoot() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try makeForService(scratch.journal)
        let data = scratch.journal + "/entries/data.mdb"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: data)
        _ = try JournalCompaction.run(directory: scratch.journal)
        try expectServiceOwnsAll(scratch.journal)
        #expect(try FileManager.default.mode(data) == 0o640)
        #expect(try FileManager.default.mode(scratch.journal + "/blacklist/data.mdb") == 0o600)
    }

    @Test("A backup and a salvage by root belong to the user of the original", .enabled(if: isRoot, "needs root"))
    func copyAsRoot() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try makeForService(scratch.journal)
        _ = try JournalBackup.run(directory: scratch.journal, destination: scratch.path + "/copy.journal")
        try expectServiceOwnsAll(scratch.path + "/copy.journal")
        _ = try JournalSalvage.run(directory: scratch.journal, destination: scratch.path + "/salvaged.journal")
        try expectServiceOwnsAll(scratch.path + "/salvaged.journal")
    }

    @Test(
        "Whatever an opening by root makes inside of a journal belongs to the journal's user",
        .enabled(if: isRoot, "needs root"))
    func openAsRoot() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try makeForService(scratch.journal)
        for file in ["owner.lock", "entries/lock.mdb", "blacklist/lock.mdb"] {
            try FileManager.default.removeItem(atPath: scratch.journal + "/" + file)
        }
        try LMDBJournal(directory: scratch.journal).close()
        try expectServiceOwnsAll(scratch.journal)
        // A directory that was prepared for a service by root, and filled by root.
        let prepared = scratch.path + "/prepared.journal"
        try FileManager.default.createDirectory(atPath: prepared, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.ownerAccountID: Self.service.user, .groupOwnerAccountID: Self.service.group], ofItemAtPath: prepared)
        try LMDBJournal(directory: prepared).close()
        try expectServiceOwnsAll(prepared)
    }

    @Test(
        "A journal that root makes in a service's directory belongs to the service, whoever is the first to start",
        .enabled(if: isRoot, "needs root"))
    func makeAsRoot() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let home = scratch.path + "/service"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.ownerAccountID: Self.service.user, .groupOwnerAccountID: Self.service.group], ofItemAtPath: home)
        try LMDBJournal(directory: home + "/push.journal").close()
        try expectServiceOwnsAll(home)
    }
}
