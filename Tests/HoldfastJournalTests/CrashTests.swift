import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastLMDB
import HoldfastPlatform
import Testing

@Suite("Crashing")
struct JournalCrashTests {
    /// One line a receipt, each written whole by one write.
    private static func log(_ text: String, _ handle: FileHandle) {
        do { try handle.write(contentsOf: Data((text + "\n").utf8)) } catch { fatalError("cannot log: \(error)") }
    }

    @Test(
        "Killed at a random instant, every receipt that was given is kept, and no settlement comes back",
        arguments: 0..<4)
    func kill(round: Int) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let log = scratch.path + "/log"
        try Data().write(to: URL(fileURLWithPath: log))
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.journal as String, log = log as String] in
            let journal = try LMDBJournal(directory: path)
            let lane = try journal.openLane(immediate).id
            _ = try journal.openProducer("default")
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
            let receipts = Monitor(0)
            let victim = Int.random(in: 30...120)
            for number in 0... {
                journal.append(submission([number, number, number], lane)) { result in
                    guard case .success(let appended) = result else { return }
                    let uid = appended.first
                    JournalCrashTests.log("a \(uid)", handle)
                    let count = receipts.withLock { receipts in
                        receipts += 1
                        return receipts
                    }
                    receipts.broadcast()
                    // In the middle of the writer's own work, with further commits waiting.
                    if count == victim { _ = HoldfastPlatform.kill(getpid(), SIGKILL) }
                    let key = EntryKey(lane: lane, uid: uid)
                    journal.settle(SettlementBatch(acknowledging: [key])) { result in
                        if case .success = result { JournalCrashTests.log("s \(uid)", handle) }
                    }
                }
                // At most some dozens ahead.
                _ = receipts.wait { receipts in receipts > number - 40 ? true : nil }
            }
        }
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let appended = lines.filter { $0.hasPrefix("a") }.compactMap { UInt64($0.dropFirst(2)) }
        let settled = Set(lines.filter { $0.hasPrefix("s") }.compactMap { UInt64($0.dropFirst(2)) })
        #expect(appended.count >= 30)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate)
        let there = Set(try journal.uids(lane.id).map(\.rawValue))
        for first in appended {
            #expect(there.contains(first + 1) && there.contains(first + 2), "receipt \(first)")
            if settled.contains(first) { #expect(!there.contains(first), "settled \(first)") }
        }
        #expect(lane.lastUID.rawValue >= (appended.last ?? 0) + 2)
        #expect(try journal.append(0..<1, to: lane.id).rawValue == lane.lastUID.rawValue + 1)
    }

    @Test("At durability process, too, killing the process loses nothing that was answered for", arguments: 0..<2)
    func killUnsynced(round: Int) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let log = scratch.path + "/log"
        try Data().write(to: URL(fileURLWithPath: log))
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.journal as String, log = log as String] in
            var options = LMDBJournal.Options()
            options.durability = .process
            let journal = try LMDBJournal(directory: path, options: options)
            let lane = try journal.openLane(immediate).id
            _ = try journal.openProducer("default")
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
            let receipts = Monitor(0)
            let victim = Int.random(in: 200...900)
            for number in 0... {
                var one = submission([number, number], lane)
                one.identities = [(1, Identity(high: UInt64(number), low: 1))]
                journal.append(one) { result in
                    guard case .success(let appended) = result else { return }
                    JournalCrashTests.log("a \(appended.first)", handle)
                    let count = receipts.withLock { receipts in
                        receipts += 1
                        return receipts
                    }
                    receipts.broadcast()
                    if count == victim { _ = HoldfastPlatform.kill(getpid(), SIGKILL) }
                    let key = EntryKey(lane: lane, uid: appended.first)
                    journal.settle(SettlementBatch(acknowledging: [key], keepsOutcomes: true)) { result in
                        if case .success = result { JournalCrashTests.log("s \(appended.first)", handle) }
                    }
                }
                _ = receipts.wait { receipts in receipts > number - 40 ? true : nil }
            }
        }
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let appended = lines.filter { $0.hasPrefix("a") }.compactMap { UInt64($0.dropFirst(2)) }
        let settled = lines.filter { $0.hasPrefix("s") }.compactMap { UInt64($0.dropFirst(2)) }
        #expect(appended.count >= 200)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let there = Set(try journal.uids(lane).map(\.rawValue))
        let outcomes = Set(try journal.outcomes(after: .start, limit: .max).outcomes.map(\.uid.rawValue))
        for first in appended { #expect(there.contains(first + 1), "receipt \(first)") }
        for first in settled { #expect(!there.contains(first) && outcomes.contains(first), "settled \(first)") }
        #expect(journal.backlog(of: try journal.openProducer("default")) == there.count)
        #expect(journal.outcomeCount == outcomes.count)
        // Each identity of an entry that is there is remembered with it.
        var repeated = submission(0..<appended.count, lane)
        repeated.identities = (0..<appended.count).map { ($0, Identity(high: UInt64($0), low: 1)) }
        let repeats = try journal.append(repeated).repeats
        #expect(repeats.map(\.uid.rawValue) == appended.map { $0 + 1 })
    }

    /// The descriptors of this process for the file, those opened for synchronous writes apart.
    private static func descriptors(of file: String) throws -> (plain: Int32, synchronous: Int32) {
        var found: (plain: Int32, synchronous: Int32) = (-1, -1)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let descriptor = Int32(name),
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == file
            else { continue }
            let flags = fcntl(descriptor, F_GETFL)
            if flags & O_DSYNC != 0 {
                found.synchronous = descriptor
            } else if flags & O_ACCMODE == O_RDWR {
                // The other one is only read: it holds the owner's lock.
                found.plain = descriptor
            }
        }
        return found
    }

    /// Puts a device in place of one of liblmdb's descriptors, so that its writes or syncs fail as on a broken disk.
    private static func breakDisk(_ descriptor: Int32, with device: String) {
        guard let broken = FileHandle(forUpdatingAtPath: device), dup2(broken.fileDescriptor, descriptor) >= 0 else {
            fatalError("the test cannot break the disk")
        }
    }

    @Test(
        "A commit that fails at its sync or its meta page is undetermined, then the journal refuses all until reopened",
        arguments: ["meta page", "sync"])
    func undetermined(which: String) async {
        await #expect(processExitsWith: .success) { [which] in
            let scratch = Scratch()
            defer { scratch.remove() }
            let base = URL(fileURLWithPath: scratch.path).resolvingSymlinksInPath().path
            let path = base + "/test.journal"
            var journal = try LMDBJournal(directory: path)
            let lane = try journal.openLane(immediate).id
            _ = try journal.append(0..<10, to: lane)
            let found = try JournalCrashTests.descriptors(of: path + "/entries/data.mdb")
            if which == "sync" {
                // Takes every write, and cannot be synced.
                JournalCrashTests.breakDisk(found.plain, with: "/dev/null")
            } else {
                JournalCrashTests.breakDisk(found.synchronous, with: "/dev/full")
            }
            let first = #expect(throws: JournalError.self) { try journal.append(0..<5, to: lane) }
            #expect(first?.code == .undetermined)
            let second = #expect(throws: JournalError.self) { try journal.append(0..<5, to: lane) }
            #expect(second?.code == .mustBeReopened)
            let third = #expect(throws: JournalError.self) { try journal.acknowledge([UID(1)], lane) }
            #expect(third?.code == .mustBeReopened)
            let fourth = #expect(throws: JournalError.self) { try journal.uids(lane) }
            #expect(fourth?.code == .mustBeReopened)
            journal.close()

            journal = try LMDBJournal(directory: path)
            let uids = try journal.uids(try journal.openLane(immediate).id).map(\.rawValue)
            #expect(uids == Array(1...10) || uids == Array(1...15))
            #expect(try journal.append(0..<1, to: lane).rawValue == UInt64(uids.count + 1))
            journal.close()
        }
    }

    @Test(
        "A blacklist whose meta page failed says that the journal must be reopened, and has all that was answered for")
    func blacklistMetaPage() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            defer { scratch.remove() }
            let base = URL(fileURLWithPath: scratch.path).resolvingSymlinksInPath().path
            let path = base + "/test.journal"
            func entry(_ number: Int, addition: UInt64 = 0) -> BlacklistEntry {
                BlacklistEntry(
                    token: sample(number).token!, reason: .unregistered, since: WallTime(milliseconds: 1),
                    learntAt: WallTime(milliseconds: 2), route: "default", number: addition)
            }
            var journal = try LMDBJournal(directory: path)
            try journal.blacklist.add([entry(1)])
            JournalCrashTests.breakDisk(
                try JournalCrashTests.descriptors(of: path + "/blacklist/data.mdb").synchronous, with: "/dev/full")
            let first = #expect(throws: JournalError.self) { try journal.blacklist.add([entry(2)]) }
            #expect(first?.code == .undetermined)
            let second = #expect(throws: JournalError.self) { try journal.blacklist.add([entry(3)]) }
            #expect(second?.code == .mustBeReopened)
            // Nobody may be taken for not blacklisted meanwhile.
            let third = #expect(throws: JournalError.self) {
                try journal.blacklist.entries(for: sample(1).recipient).first
            }
            #expect(third?.code == .mustBeReopened)
            journal.close()
            journal = try LMDBJournal(directory: path)
            #expect(try journal.blacklist.entries(for: sample(1).recipient).first == entry(1, addition: 1))
            try journal.blacklist.add([entry(3)])
            #expect(try journal.blacklist.entries(for: sample(3).recipient).first == entry(3, addition: 2))
            journal.close()
        }
    }

    @Test("The slot of a reader that was killed is freed while the owner lives, so that it pins no pages")
    func killedReader() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        _ = try journal.append(0..<10, to: try journal.openLane(immediate).id)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = (scratch.journal + "/entries") as String] in
            let environment = try Environment.open(path, .readOnly, mapByteCount: nil, tables: 32)
            _ = try ReaderPool(environment).read { (_: borrowing Snapshot) in
                _ = HoldfastPlatform.kill(getpid(), SIGKILL)
            }
        }
        guard let environment = try Environment.share(scratch.journal + "/entries") else { throw TimedOut() }
        defer { environment.close() }
        let own = ProcessInfo.processInfo.processIdentifier
        let end = ContinuousClock.now + .seconds(30)
        while try environment.readers().contains(where: { reader in reader.process != own }) {
            guard ContinuousClock.now < end else { throw TimedOut() }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
