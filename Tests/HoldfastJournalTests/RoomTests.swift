import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPlatform
import Testing

@testable import HoldfastJournal

/// File systems that are too small, or that write everything to a new place.
@Suite("File systems", .serialized)
struct RoomTests {
    /// A file system in memory or in a file, mounted for one test.
    private struct Mount {
        let scratch = Scratch()
        var path: String { scratch.path + "/mounted" }

        /// - Returns: nil where this user or machine cannot mount it.
        init?(_ kind: String, megabytes: Int) throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let image = scratch.path + "/image"
            let commands: [[String]] =
                switch kind {
                case "tmpfs": [["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path]]
                default:
                    [
                        ["truncate", "-s", "\(megabytes)m", image], ["mkfs.btrfs", "-q", image],
                        ["mount", "-o", "loop", image, path],
                    ]
                }
            for command in commands {
                guard try Self.run(command) else {
                    scratch.remove()
                    return nil
                }
            }
        }

        private static func run(_ command: [String]) throws -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = command
            process.standardError = nil
            process.standardOutput = nil
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus == 0
        }

        /// Takes all the room there is.
        func fill() throws {
            let file = unsafe open(path + "/filler", O_WRONLY | O_CREAT, 0o600)
            defer { close(file) }
            for size in [1 << 20, 4096] {
                let bytes = [UInt8](repeating: 7, count: size)
                while unsafe HoldfastPlatform.write(file, bytes, size) > 0, fsync(file) == 0 {}
            }
        }

        /// Makes a file system in memory larger or smaller.
        func resize(megabytes: Int) throws {
            #expect(try Self.run(["mount", "-o", "remount,size=\(megabytes)m", path]))
        }

        func end() throws {
            #expect(try Self.run(["umount", path]))
            scratch.remove()
        }
    }

    @Test(
        "A file system that is too small for a journal is refused at the start, with figures, and nothing is made there"
    )
    func tooSmall() throws {
        guard let mount = try Mount("tmpfs", megabytes: 40) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/small.journal"
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: path) }
        #expect(error?.code == .diskFull)
        let message = error?.message ?? ""
        #expect(message.contains("40 MiB") && message.contains("96 MiB") && message.contains("64 MiB"), "\(message)")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: JournalError.self) { try LMDBJournal.examine(path) }
    }

    @Test("A journal without room for its reserve opens, drains, and says what is missing")
    func noRoom() throws {
        guard let mount = try Mount("tmpfs", megabytes: 140) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/full.journal"
        var journal = try LMDBJournal(directory: path)
        #expect(journal.warnings == [])
        try journal.append(0..<10, to: try journal.openLane(immediate).id)
        journal.close()
        // As another program's file does, which came while the journal was small.
        let cut = unsafe truncate(path + "/entries/data.mdb", 1 << 20)
        #expect(cut == 0)
        try mount.fill()
        journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        #expect(journal.warnings.count == 1 && journal.warnings[0].contains("64 MiB"), "\(journal.warnings)")
        let lane = try journal.openLane(immediate).id
        #expect(try journal.acknowledge(uids(1...10), lane).settled == 10)
    }

    @Test(
        "A journal that is opened again on a full disk takes notifications into the room that it has allocated before")
    func ownRoom() throws {
        guard let mount = try Mount("tmpfs", megabytes: 220) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/full.journal"
        var journal = try LMDBJournal(directory: path)
        let before = try journal.openLane(immediate).id
        try journal.append(0..<10, to: before)
        #expect(try journal.acknowledge(uids(1...10), before).settled == 10)
        journal.close()
        try mount.fill()
        journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        for round in 0..<20 {
            let first = try journal.append(100 * round..<100 * (round + 1), to: lane).rawValue
            #expect(try journal.acknowledge(uids(first...first + 99), lane).settled == 100)
        }
    }

    @Test("A journal that has filled its disk once and was drained opens again, and takes notifications")
    func drained() throws {
        guard let mount = try Mount("tmpfs", megabytes: 110) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/full.journal"
        var journal = try LMDBJournal(directory: path)
        var lane = try journal.openLane(immediate).id
        var last = UID.none
        while let first = try? journal.append(0..<100, to: lane, payloadByteCount: 4000) { last = first }
        #expect(last.rawValue > 1000)
        #expect(try journal.acknowledge(uids(1...last.rawValue + 99), lane).settled == Int(last.rawValue) + 99)
        journal.close()
        for _ in 0..<2 {
            journal = try LMDBJournal(directory: path)
            lane = try journal.openLane(immediate).id
            let first = try journal.append(0..<100, to: lane).rawValue
            #expect(try journal.acknowledge(uids(first...first + 99), lane).settled == 100)
            journal.close()
        }
    }

    /// Appends and ends a hundred, whose outcomes take a page each; tries again while there is no room.
    private static func round(_ journal: LMDBJournal, _ lane: LaneID, _ attempts: Int) async throws -> JournalError? {
        var refusal: JournalError?
        for _ in 0..<attempts {
            do {
                let first = try journal.append(0..<100, to: lane, payloadByteCount: 3500).rawValue
                var batch = SettlementBatch(
                    acknowledging: uids(first...first + 99).map { EntryKey(lane: lane, uid: $0) },
                    keepsOutcomes: true)
                batch.keepsPayloads = true
                #expect(try journal.settle(batch).settled == 100)
                return nil
            } catch let error as JournalError {
                #expect(error.code == .diskFull, "\(error)")
                refusal = error
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        return refusal
    }

    @Test("On a full disk old outcomes give way to what is new, but none that a reader is waited for")
    func outcomesGiveWay() async throws {
        guard let mount = try Mount("tmpfs", megabytes: 160) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let journal = try LMDBJournal(directory: mount.path + "/full.journal")
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        func round(attempts: Int) async throws -> JournalError? { try await Self.round(journal, lane, attempts) }
        for _ in 0..<400 { #expect(try await round(attempts: 200) == nil) }
        let log = journal.outcomeLog
        #expect(log.newest == OutcomeCursor(40_000) && log.deleted > OutcomeCursor(5000) && log.count > 1000)
        // Now one is waited for that reads nothing: all it has not read is kept, and nothing more is accepted.
        _ = try journal.openReader("app", isWaitedFor: true)
        var refusal: JournalError?
        for _ in 0..<400 where refusal == nil { refusal = try await round(attempts: 100) }
        #expect(refusal?.code == .diskFull)
        #expect(journal.outcomeLog.deleted <= OutcomeCursor(40_000))
        try journal.setReader("app", to: journal.outcomeLog.newest)
        #expect(try await round(attempts: 500) == nil)
    }

    @Test("On a full disk outcomes that are held, since they are not told yet, do not give way until they are told")
    func heldOutcomes() async throws {
        guard let mount = try Mount("tmpfs", megabytes: 160) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let journal = try LMDBJournal(directory: mount.path + "/full.journal")
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        journal.holdOutcomes(after: .start)
        var refusal: JournalError?
        for _ in 0..<800 where refusal == nil { refusal = try await Self.round(journal, lane, 100) }
        #expect(refusal?.code == .diskFull)
        #expect(journal.outcomeLog.deleted == .start && journal.outcomeLog.count > 1000)
        // Now some are told, and these alone give way.
        let told = OutcomeCursor(journal.outcomeLog.newest.rawValue / 2)
        journal.holdOutcomes(after: told)
        for _ in 0..<20 { _ = try await Self.round(journal, lane, 20) }
        #expect(journal.outcomeLog.deleted > .start && journal.outcomeLog.deleted <= told)
        journal.holdOutcomes(after: journal.outcomeLog.newest)
        #expect(try await Self.round(journal, lane, 500) == nil)
    }

    @Test("A journal whose file is large and mostly free takes notifications on a disk that never has its reserve free")
    func largeFile() throws {
        guard let mount = try Mount("tmpfs", megabytes: 260) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/large.journal"
        var journal = try LMDBJournal(directory: path)
        var lane = try journal.openLane(immediate).id
        var last = UID.none
        while try DataFile.highWaterPages(path + "/entries") * 4096 < 50 << 20 {
            last = try journal.append(0..<100, to: lane, payloadByteCount: 3500)
        }
        #expect(try journal.acknowledge(uids(1...last.rawValue + 99), lane).settled == Int(last.rawValue) + 99)
        // As a working copy that was made while the disk was full: without room ahead. What closing takes fits in.
        let size = try DataFile.highWaterPages(path + "/entries") * 4096 + (1 << 20)
        journal.close()
        let cut = unsafe truncate(path + "/entries/data.mdb", size)
        #expect(cut == 0)
        try mount.resize(megabytes: 130)
        journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        lane = try journal.openLane(immediate).id
        for _ in 0..<20 {
            let first = try journal.append(0..<100, to: lane, payloadByteCount: 3500).rawValue
            #expect(try journal.acknowledge(uids(first...first + 99), lane).settled == 100)
        }
        #expect(journal.wantOfRoom == nil)
        // Every page of the reserve is there: at the file's end, or free inside.
        #expect(try DataFile.byteCount(path + "/entries") > size)
    }

    @Test("A disk without room is told though nobody appends, and so is that it has room again")
    func roomAtRest() async throws {
        guard let mount = try Mount("tmpfs", megabytes: 140) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/full.journal"
        try LMDBJournal(directory: path).close()
        let cut = unsafe truncate(path + "/entries/data.mdb", 1 << 20)
        #expect(cut == 0)
        try mount.fill()
        let journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        func comes(_ condition: (JournalError?) -> Bool) async throws -> Bool {
            for _ in 0..<500 where !condition(journal.wantOfRoom) { try await Task.sleep(for: .milliseconds(10)) }
            return condition(journal.wantOfRoom)
        }
        #expect(try await comes { $0?.code == .diskFull })
        // The reserve was not allocated, so it is wanted as well.
        let words = journal.wantOfRoom?.message ?? ""
        #expect(words.contains("once 80 MiB are free") || words.contains("once 81 MiB are free"), "\(words)")
        try FileManager.default.removeItem(atPath: mount.path + "/filler")
        #expect(try await comes { $0 == nil })
        try journal.append(0..<10, to: try journal.openLane(immediate).id)
    }

    @Test("A disk that had no room for a batch is full until it has, though a single notification has room")
    func roomForBatches() async throws {
        guard let mount = try Mount("tmpfs", megabytes: 140) else { return print("skipped: cannot mount tmpfs here") }
        defer { try? mount.end() }
        let journal = try LMDBJournal(directory: mount.path + "/full.journal")
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try mount.fill()
        var refusal: JournalError?
        for _ in 0..<2000 where refusal == nil {
            do { try journal.append(0..<500, to: lane, payloadByteCount: 1000) } catch let error as JournalError {
                refusal = error
            }
        }
        #expect(refusal?.code == .diskFull)
        try journal.append(0..<1, to: lane)
        // The writer looks each second.
        for _ in 0..<250 {
            #expect(journal.wantOfRoom?.code == .diskFull)
            try await Task.sleep(for: .milliseconds(10))
        }
        try FileManager.default.removeItem(atPath: mount.path + "/filler")
        for _ in 0..<500 where journal.wantOfRoom != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(journal.wantOfRoom == nil)
    }

    @Test("On btrfs a journal is exempt from copy-on-write, and opens, drains and is read on a full disk")
    func btrfs() throws {
        guard let mount = try Mount("btrfs", megabytes: 400) else { return print("skipped: cannot mount btrfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/test.journal"
        var journal = try LMDBJournal(directory: path)
        #expect(journal.warnings == [])
        for part in ["entries", "blacklist"] {
            for file in ["data.mdb", "lock.mdb"] {
                #expect(try !OpenFile(path + "/\(part)/\(file)", .read).isCopiedOnWrite, "\(part)/\(file)")
            }
        }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<1000, to: lane)
        try mount.fill()
        #expect(try journal.acknowledge(uids(1...500), lane).settled == 500)
        journal.close()
        // A start, and readers, write to the lock file.
        journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        #expect(try journal.uids(lane) == uids(501...1000))
        #expect(try journal.acknowledge(uids(501...1000), lane).settled == 500)
        #expect(try journal.status().unconfirmed == 0)
    }

    @Test("A journal on btrfs that is copied on write says so, and a compaction writes it anew without")
    func converted() throws {
        guard let mount = try Mount("btrfs", megabytes: 400) else { return print("skipped: cannot mount btrfs here") }
        defer { try? mount.end() }
        let path = mount.path + "/old.journal"
        // As an older Holdfast has left it: copied here from elsewhere.
        try LMDBJournal(directory: mount.scratch.path + "/made.journal").close()
        for part in ["entries", "blacklist"] {
            try FileManager.default.createDirectory(
                atPath: path + "/" + part, withIntermediateDirectories: true)
            for file in ["data.mdb", "lock.mdb"] {
                let bytes = try Data(
                    contentsOf: URL(fileURLWithPath: mount.scratch.path + "/made.journal/\(part)/\(file)"))
                try bytes.write(to: URL(fileURLWithPath: path + "/\(part)/\(file)"))
            }
        }
        let journal = try LMDBJournal(directory: path)
        #expect(journal.warnings.count == 1 && journal.warnings[0].contains("compact"), "\(journal.warnings)")
        #expect(try !OpenFile(path + "/entries/lock.mdb", .read).isCopiedOnWrite)
        journal.close()
        _ = try JournalCompaction.run(directory: path)
        let again = try LMDBJournal(directory: path)
        #expect(again.warnings == [])
        again.close()
    }
}
