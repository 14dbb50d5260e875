import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import Testing

@testable import struct HoldfastJournal.RefusedRoom
@testable import struct HoldfastJournal.SpaceGuard

@Suite("A full journal")
struct FullTests {
    /// Appends batches until one is refused.
    private static func fill(_ journal: LMDBJournal, _ lane: LaneID, payloadByteCount: Int = 1500) throws
        -> JournalError
    {
        for _ in 0..<100_000 {
            do {
                _ = try journal.append(0..<100, to: lane, payloadByteCount: payloadByteCount)
            } catch let error as JournalError {
                return error
            }
        }
        throw TimedOut()
    }

    /// Settles everything as an engine does, in batches in order of reading; some are deferred and rejected on the way.
    private static func drain(_ journal: LMDBJournal, _ lane: LaneID) throws {
        while true {
            let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 700)
            if batch.isEmpty { break }
            let keys = batch.items.map { item in EntryKey(lane: lane, uid: item.uid) }
            let due = WallTime(milliseconds: 1)
            try journal.settle(
                SettlementBatch(
                    acknowledging: Array(keys.dropFirst(20)),
                    others: keys.prefix(20).map { key in
                        Settlement(key, .deferUntil(due, attempts: 1, reason: .serviceUnavailable, possiblySent: false))
                    }))
        }
        let promoted = try journal.promote(lane, now: 1, limit: .max)
        try journal.acknowledge(promoted, lane)
        #expect(journal.depth(lane) == 0)
    }

    private static func options(limit: Int) -> LMDBJournal.Options {
        var options = LMDBJournal.Options()
        options.limit = limit
        return options
    }

    @Test("At its limit it refuses appends, drains to zero without a restart, and accepts again")
    func limit() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(limit: 4 << 20))
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        for _ in 0..<3 {
            let refused = try Self.fill(journal, lane)
            #expect(refused.code == .limitReached)
            let status = try journal.status()
            #expect(status.usedBytes <= 4 << 20 && status.usedBytes > 3 << 20)
            #expect(status.limitBytes == 4 << 20)
            // Whoever asks what became of a notification needs no room.
            var inquiry = Submission(producer: try journal.openProducer("p"), acceptedAt: WallTime(milliseconds: 1))
            inquiry.inquiries = [Identity(high: 1, low: 2)]
            #expect(try journal.append(inquiry).known.isEmpty)
            try Self.drain(journal, lane)
            #expect(try journal.status().usedBytes < 1 << 20)
        }
        #expect(try journal.append(0..<10, to: lane) > UID(1))
    }

    /// The writer looks each second whether there is room again.
    private func hasRoomSoon(_ journal: LMDBJournal) async throws -> Bool {
        for _ in 0..<500 where journal.wantOfRoom != nil { try await Task.sleep(for: .milliseconds(10)) }
        return journal.wantOfRoom == nil
    }

    @Test(
        "Want of room is told as the last append met it, and taken back when there is room, with no append to find out")
    func wantOfRoom() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(limit: 4 << 20))
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<10, to: lane)
        #expect(journal.wantOfRoom == nil)
        let refused = try Self.fill(journal, lane)
        #expect(journal.wantOfRoom?.message == refused.message)
        try Self.drain(journal, lane)
        #expect(try await hasRoomSoon(journal))
    }

    @Test("A journal at its limit that refused a batch is full until that has room, though a single notification has")
    func roomForBatches() async throws {
        for entryLimit in [100, nil] {
            let scratch = Scratch()
            defer { scratch.remove() }
            var options = Self.options(limit: 4 << 20)
            options.entryLimit = entryLimit
            let journal = try LMDBJournal(directory: scratch.journal, options: options)
            defer { journal.close() }
            let lane = try journal.openLane(immediate).id
            if entryLimit != nil {
                try journal.append(0..<95, to: lane)
            } else {
                while try journal.status().usedBytes < 3_800_000 {
                    try journal.append(0..<50, to: lane, payloadByteCount: 1500)
                }
            }
            let error = #expect(throws: JournalError.self) {
                try journal.append(0..<500, to: lane, payloadByteCount: 1500)
            }
            #expect(error?.code == .limitReached)
            try journal.append(0..<1, to: lane)
            // For longer than the second after which the writer looks again: it must not find room.
            for _ in 0..<150 {
                #expect(journal.wantOfRoom?.code == .limitReached)
                try await Task.sleep(for: .milliseconds(10))
            }
            try Self.drain(journal, lane)
            #expect(try await hasRoomSoon(journal))
        }
    }

    @Test("Of what was refused the smallest counts, and a part of the journal's limit is enough")
    func refusedRoom() {
        var room = RefusedRoom()
        #expect(room.isEmpty)
        room.refused(5000, entries: 50, limit: 8000, entryLimit: 80)
        #expect(room.bytes == 1000 && room.entries == 10)
        room.refused(6000, entries: 1, limit: 8000, entryLimit: nil)
        #expect(room.bytes == 1000 && room.entries == 10)
        room.refused(500, entries: 5, limit: 8000, entryLimit: nil)
        #expect(room.bytes == 500 && room.entries == 5)
        room.admitted(499)
        #expect(!room.isEmpty)
        room.admitted(500)
        #expect(room.isEmpty)
    }

    @Test("What is only kept aside gives way: a journal that is full of it takes what is new")
    func aside() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(limit: 4 << 20))
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        // What is aside takes the room of what could be accepted, up to the limit.
        var kept = 0
        while try journal.status().usedBytes < 3 << 20 {
            let first = try journal.append(0..<100, to: lane, payloadByteCount: 1500).rawValue
            try journal.settle(
                SettlementBatch(
                    quieted: uids(first...(first + 99)).map { EntryKey(lane: lane, uid: $0) }, greatestAside: 1_000_000)
            )
            kept = max(kept, journal.asideCount)
        }
        #expect(kept > 500)
        // More than there would be room for beside it: at most some calls are refused until the room is made.
        var (accepted, refused) = (0, 0)
        while accepted < 1500 {
            do {
                _ = try journal.append(0..<100, to: lane, payloadByteCount: 1500)
                accepted += 100
            } catch let error as JournalError {
                #expect(error.code == .limitReached)
                refused += 1
                try #require(refused < 100)
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        #expect(journal.asideCount == 0)
        let status = try journal.status()
        #expect(status.totals.confirmed == status.totals.accepted - UInt64(status.unconfirmed))
    }

    @Test("What is kept and takes the room of a full journal is named, with what to do about it")
    func kept() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(limit: 2 << 20))
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        var refused: JournalError?
        for _ in 0..<200 where refused == nil {
            do {
                let first = try journal.append(0..<50, to: lane, payloadByteCount: 1500).rawValue
                let rejected = uids(first...first + 49).map { uid in
                    Settlement(EntryKey(lane: lane, uid: uid), .reject(rejection))
                }
                try journal.settle(SettlementBatch(others: rejected))
            } catch let error as JournalError {
                refused = error
            }
        }
        let error = try #require(refused)
        #expect(error.code == .limitReached && error.message.contains(" of them by "), "\(error)")
        #expect(error.message.contains(" rejections)"), "\(error)")
        #expect(error.advice?.next.contains("`limits.rejections`") == true)
        // What waits is no matter of advice: delivery makes room.
        let other = Scratch()
        defer { other.remove() }
        let waiting = try LMDBJournal(directory: other.journal, options: Self.options(limit: 2 << 20))
        defer { waiting.close() }
        let full = try Self.fill(waiting, try waiting.openLane(immediate).id)
        #expect(full.advice == nil && !full.message.contains(" of them by "), "\(full)")
    }

    @Test("It drains as well while a reader pins every page it ever saw")
    func limitWithPinnedReader() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(limit: 4 << 20))
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<100, to: lane)
        guard let environment = try Environment.share(scratch.journal + "/entries") else { throw TimedOut() }
        defer { environment.close() }
        let pool = ReaderPool(environment)
        defer { pool.close() }
        let outcome = try pool.read { (_: borrowing Snapshot) in
            Result {
                for _ in 0..<3 {
                    #expect(try Self.fill(journal, lane).code == .limitReached)
                    try Self.drain(journal, lane)
                }
                _ = try journal.append(0..<10, to: lane)
            }
        }
        try outcome?.get()
    }

    @Test("What a submission may not fit into is said at once, and takes no other with it")
    func tooLarge() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.greatestSubmission = 100_000
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let error = #expect(throws: JournalError.self) { try journal.append(0..<1000, to: lane) }
        #expect(error?.code == .limitReached)
        #expect(try journal.append(0..<10, to: lane) == UID(1))
    }

    @Test("An append that is refused takes none of the settlements of its commit with it")
    func settlementsBesideRefusal() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: Self.options(limit: 2 << 20))
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try Self.fill(journal, lane)
        // The writer is held in a completion until all three wait for it.
        let hold = Box<Bool>()
        let held = Box<Bool>()
        journal.settle(SettlementBatch()) { _ in
            held.put(true)
            _ = try? hold.get()
        }
        _ = try held.get()
        let settled = Box<Result<SettlementReport, JournalError>>()
        let refused = Box<Result<Appended, JournalError>>()
        let noted = Box<Result<SettlementReport, JournalError>>()
        journal.settle(SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(1))])) { settled.put($0) }
        journal.append(submission(0..<1000, lane)) { refused.put($0) }
        journal.settle(SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(2))])) { noted.put($0) }
        hold.put(true)
        #expect(try settled.get().get().settled == 1)
        #expect(throws: JournalError.self) { try refused.get().get() }
        #expect(try noted.get().get().settled == 1)
    }

    /// No file of this process may grow from now on beyond `count` bytes: what a full disk does, by the kernel.
    private static func limitFiles(to count: Int) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        limit.rlim_cur = rlim_t(count)
        limit.rlim_max = rlim_t.max
        // 1 is RLIMIT_FSIZE.
        guard unsafe setrlimit(__rlimit_resource_t(1), &limit) == 0 else { fatalError("no limit on files") }
    }

    @Test(
        "On a full disk appends are refused while the reserve is whole; it drains to zero and accepts again",
        arguments: [false, true])
    func fullDisk(pinned: Bool) async {
        await #expect(processExitsWith: .success) { [pinned] in
            let scratch = Scratch()
            defer { scratch.remove() }
            let journal = try LMDBJournal(directory: scratch.journal)
            let lane = try journal.openLane(immediate).id
            _ = try journal.append(0..<100, to: lane)
            let size = try DataFile.byteCount(scratch.journal + "/entries")
            FullTests.limitFiles(to: size)
            guard let environment = try Environment.share(scratch.journal + "/entries") else { throw TimedOut() }
            let pool = ReaderPool(environment)
            let work = {
                for _ in 0..<2 {
                    let refused = try FullTests.fill(journal, lane)
                    #expect(refused.code == .diskFull)
                    // What is left for settling is the reserve, untouched.
                    let high = try DataFile.highWaterPages(scratch.journal + "/entries") * 4096
                    if !pinned { #expect(size - high >= 60 << 20) }
                    try FullTests.drain(journal, lane)
                    // While a reader pins what was freed there is no room yet, but nothing is stuck.
                    if pinned { break }
                }
            }
            if pinned {
                try pool.read { (_: borrowing Snapshot) in Result { try work() } }?.get()
            } else {
                try work()
            }
            pool.close()
            // The free pages are room enough, on the same full disk.
            _ = try journal.append(0..<100, to: lane)
            environment.close()
            journal.close()
        }
    }

    @Test("When the disk refuses a commit that seemed to have room, it is made again without its appends")
    func refusedCommit() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            defer { scratch.remove() }
            let journal = try LMDBJournal(directory: scratch.journal)
            let lane = try journal.openLane(immediate).id
            _ = try journal.append(0..<2000, to: lane)
            for uid in uids(1...500) { try journal.acknowledge([uid], lane) }
            // Below what is allocated already, so that only the commit itself can find out.
            FullTests.limitFiles(to: try DataFile.highWaterPages(scratch.journal + "/entries") * 4096)
            // The writer is held in a completion until all three wait for it, and so share a commit.
            let hold = Box<Bool>()
            let held = Box<Bool>()
            journal.settle(SettlementBatch()) { _ in
                held.put(true)
                _ = try? hold.get()
            }
            _ = try held.get()
            let first = Box<Result<SettlementReport, JournalError>>()
            let refused = Box<Result<Appended, JournalError>>()
            let second = Box<Result<SettlementReport, JournalError>>()
            journal.settle(SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(501))])) { first.put($0) }
            journal.append(submission(0..<3000, lane)) { refused.put($0) }
            journal.settle(SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(502))])) { second.put($0) }
            hold.put(true)
            #expect(try first.get().get().settled == 1)
            let error = #expect(throws: JournalError.self) { try refused.get().get() }
            #expect(error?.code == .diskFull)
            #expect(try second.get().get().settled == 1)
            try FullTests.drain(journal, lane)
            _ = try journal.append(0..<100, to: lane)
            journal.close()
        }
    }

    /// How often this process has called for a write, those that failed included.
    private static func writeCalls() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { line in line.hasPrefix("syscw: ") })
        return try #require(Int(line.dropFirst(7)))
    }

    @Test("A disk that has no room even for a mark is left alone until there is a reason to try again")
    func markOnFullDisk() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            defer { scratch.remove() }
            let journal = try LMDBJournal(directory: scratch.journal)
            let lane = try journal.openLane(immediate).id
            _ = try journal.append(0..<10, to: lane)
            // Nothing but the meta pages can be written.
            FullTests.limitFiles(to: 8192)
            journal.raiseMark(of: lane, to: UID(10))
            #expect(throws: JournalError.self) { try journal.acknowledge([UID(1)], lane) }
            let before = try FullTests.writeCalls()
            try await Task.sleep(for: .milliseconds(500))
            let calls = try FullTests.writeCalls() - before
            #expect(calls < 50, "the writer spins: \(calls) writes in half a second")
            // With room again the mark rises by itself.
            FullTests.limitFiles(to: 1 << 40)
            let end = ContinuousClock.now + .seconds(20)
            while try journal.status().lanes[0].mark < UID(10) {
                guard ContinuousClock.now < end else { throw TimedOut() }
                try await Task.sleep(for: .milliseconds(20))
            }
            journal.close()
        }
    }

    @Test("The reserve is kept above what appends may take, and free pages inside the file count once it cannot grow")
    func arithmetic() {
        var space = SpaceGuard(
            limit: 1 << 30, reserve: 64 << 20, mapByteCount: 1 << 40, pageByteCount: 4096, allocated: 100 << 20,
            usedPages: 10)
        #expect(space.neededAllocation(for: 1 << 20, highWaterPages: 1000) == nil)
        let needed = space.neededAllocation(for: 1 << 20, highWaterPages: 10_000)
        #expect(needed == 10_000 * 4096 + (2 << 20) + (256 << 10) + (64 << 20))
        #expect(!space.hasRoom(for: 1 << 20, highWaterPages: 25_600, freePages: 0))
        #expect(space.hasRoom(for: 1 << 20, highWaterPages: 25_600, freePages: 17_000))
        // What the free pages lack is enough to grow by.
        #expect(space.leastAllocation(for: 1 << 20, highWaterPages: 25_600, freePages: 0) == (166 << 20) + (256 << 10))
        let least = space.leastAllocation(for: 1 << 20, highWaterPages: 25_600, freePages: 10_240)
        #expect(least == (126 << 20) + (256 << 10))
        #expect(space.leastAllocation(for: 1 << 20, highWaterPages: 25_600, freePages: 17_000) == 100 << 20)
        #expect(space.roomNeeded(to: least) == (42 << 20) + (256 << 10))
        // Remembered identities beyond a quarter of the limit go.
        #expect(space.greatestIdentityPages == 65_536)
        #expect(space.greatestIdentities(of: 1000, on: 65_536) == nil)
        #expect(space.greatestIdentities(of: 1000, on: 131_072) == 500)
        #expect(space.admit(1 << 20, highWaterPages: 10) == .admitted)
        space.usedPages = (1 << 30) / 4096
        #expect(space.admit(1, highWaterPages: 10) == .limitReached)
        #expect(space.isTight)
        space.usedPages = 0
        #expect(space.admit(1, highWaterPages: (1 << 40) / 4096) == .mapFull)
    }
}
