import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// The log of outcomes in a journal: more than one segment, indexed, searched, trimmed, damaged.
@Suite("The log of outcomes")
struct OutcomeLogTests {
    private static let segment = Int(OutcomeBlock.segmentCount)

    /// Ends `count` notifications. Each thousand has a tag.
    private func end(
        _ count: Int, _ journal: LMDBJournal, from first: Int = 0, greatestBytes: Int? = nil, context: Int = 0
    ) throws {
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        for part in stride(from: first, to: first + count, by: 4000) {
            let numbers = part..<min(part + 4000, first + count)
            var submission = Submission(producer: producer, acceptedAt: acceptance)
            for number in numbers {
                var notification = sample(number, payloadByteCount: 30)
                notification.tag = Array("tag \(number / 1000)".utf8)
                notification.context = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: context)
                submission.add(notification, lane, id: NotificationID(high: UInt64(number), low: 3))
            }
            let uid = try journal.append(submission).first.rawValue
            var batch = SettlementBatch(
                acknowledging: numbers.indices.map {
                    EntryKey(lane: lane, uid: UID(uid + UInt64($0 - numbers.lowerBound)))
                },
                settledAt: WallTime(milliseconds: Int64(part)), keepsOutcomes: true)
            batch.greatestOutcomeBytes = greatestBytes
            try journal.settle(batch)
        }
    }

    private func options() -> LMDBJournal.Options {
        var options = LMDBJournal.Options()
        options.durability = .process
        return options
    }

    private func indexed(_ journal: LMDBJournal) -> UInt64 {
        journal.shared.withLock { shared in shared.state.log.unindexed }
    }

    /// Waits until the segments below `segment` have their indexes.
    private func waitForIndex(_ journal: LMDBJournal, below segment: UInt64) throws {
        let end = ContinuousClock.now + .seconds(60)
        while indexed(journal) < segment {
            guard ContinuousClock.now < end else { throw TimedOut() }
            // Each commit looks whether there is something to index.
            try journal.setNote("look", to: [1])
        }
    }

    /// Whether each property finds outcome `number`, which ended as the one after it.
    private func expectFound(_ number: Int, _ journal: LMDBJournal) throws {
        func find(_ change: (inout OutcomeQuery) -> Void) throws -> OutcomePage {
            var query = OutcomeQuery()
            change(&query)
            return try journal.findOutcomes(query, before: nil, limit: 2000, mostBytes: .max)
        }
        let uid = UID(UInt64(number + 1))
        let token = sample(number).recipient
        #expect(try find { $0.uid = uid }.outcomes.map(\.uid) == [uid])
        #expect(try find { $0.id = NotificationID(high: UInt64(number), low: 3) }.outcomes.map(\.uid) == [uid])
        #expect(try find { $0.recipient = token }.outcomes.map(\.uid) == [uid])
        let tagged = try find { $0.tag = Array("tag \(number / 1000)".utf8) }.outcomes
        #expect(tagged.contains { $0.uid == uid } && tagged.allSatisfy { $0.tag == Array("tag \(number / 1000)".utf8) })
        #expect(try journal.fate(of: uid) == .settled(.confirmed))
        let both = try find {
            $0.uid = uid
            $0.tag = Array("none".utf8)
        }
        #expect(both == OutcomePage(outcomes: [], end: .start))
    }

    /// Whether the index spares reading: a search that may look through a hundredth of the log comes to its end.
    private func expectFoundAtOnce(_ number: Int, _ journal: LMDBJournal) throws {
        var queries = [OutcomeQuery](repeating: OutcomeQuery(), count: 4)
        queries[0].uid = UID(UInt64(number + 1))
        queries[1].id = NotificationID(high: UInt64(number), low: 3)
        queries[2].recipient = sample(number).recipient
        queries[3].uid = UID(UInt64(10_000_000 + number))
        for (index, query) in queries.enumerated() {
            let page = try journal.findOutcomes(query, before: nil, limit: 2, mostBytes: 160_000)
            #expect(page.outcomes.count == (index == 3 ? 0 : 1) && page.end == .start, "\(number), key \(index)")
        }
    }

    @Test("Among several segments each outcome is found, with the index and without, across reopening")
    func find() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal, options: options())
        let count = 2 * Self.segment + 1000
        try end(count, journal)
        try waitForIndex(journal, below: 2)
        let numbers = [0, 65_535, 65_536, 100_000, 131_071, 131_072, count - 1]
        for number in numbers { try expectFound(number, journal) }
        for number in numbers { try expectFoundAtOnce(number, journal) }
        // A page ends where nothing more is wanted, and the next one goes on there.
        var query = OutcomeQuery()
        query.topic = "com.example.app"
        var before: OutcomeCursor?
        var seen: [UID] = []
        for _ in 0..<3 {
            let page = try journal.findOutcomes(query, before: before, limit: 1000, mostBytes: .max)
            seen += page.outcomes.map(\.uid)
            before = page.end
        }
        #expect(seen == (0..<3000).map { UID(UInt64(count - $0)) })
        // So it does after the bytes that may be looked through.
        query.topic = "com.example.other"
        let little = try journal.findOutcomes(query, before: nil, limit: 10, mostBytes: 20_000)
        #expect(little.outcomes.isEmpty && little.end > OutcomeCursor(UInt64(2 * Self.segment)))
        #expect(try journal.findOutcomes(query, before: little.end, limit: 10, mostBytes: .max).end == .start)
        // Times skip segments.
        var times = OutcomeQuery()
        (times.since, times.until) = (WallTime(milliseconds: 8000), WallTime(milliseconds: 12_000))
        let some = try journal.findOutcomes(times, before: nil, limit: 9000, mostBytes: .max)
        #expect(some.outcomes.map(\.uid) == uids(8001...12_000).reversed())
        journal.close()
        #expect(try SampleJournal(existing: scratch.journal).verify().damage == [])
        // Without the index's last row the segment has none: it is read as a whole, and then has one again.
        let sample = try SampleJournal(existing: scratch.journal)
        try sample.put("outcomeIndex", Key.outcomeIndex(0, SegmentSummary.place).span.array, nil)
        try sample.change("facts", OutcomeTables.boundsKey) { bytes in
            var bounds = try OutcomeLogBounds(bytes)
            bounds.unindexed = 0
            return bounds.bytes
        }
        let reader = try JournalReader(directory: scratch.journal)
        var seventh = OutcomeQuery()
        seventh.uid = UID(7)
        #expect(try reader.findOutcomes(seventh, limit: 2).outcomes.map(\.uid) == [UID(7)])
        reader.close()
        journal = try LMDBJournal(directory: scratch.journal, options: options())
        defer { journal.close() }
        try waitForIndex(journal, below: 2)
        for number in numbers { try expectFoundAtOnce(number, journal) }
    }

    @Test("A segment's index goes with its last block, and what is left is found")
    func trimmed() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: options())
        let count = Self.segment + 10_000
        try end(count, journal)
        try waitForIndex(journal, below: 1)
        let before = journal.outcomeLog.bytes
        _ = try journal.openReader("app", isWaitedFor: true)
        try journal.setReader("app", to: OutcomeCursor(50_000))
        // Never past an outcome that a reader is waited for.
        try journal.trim(TrimBounds(greatestOutcomeBytes: 0))
        #expect(
            journal.outcomeLog.deleted <= OutcomeCursor(50_000) && journal.outcomeLog.deleted > OutcomeCursor(49_800))
        try expectFound(60_000, journal)
        try journal.setReader("app", to: OutcomeCursor(UInt64(Self.segment + 1000)))
        try journal.trim(TrimBounds(outcomesBefore: WallTime(milliseconds: 1_000_000)))
        #expect(journal.outcomeLog.deleted > OutcomeCursor(UInt64(Self.segment)))
        #expect(journal.outcomeLog.bytes < before / 5)
        try expectFound(Self.segment + 5000, journal)
        #expect(try journal.fate(of: UID(60_001)) == nil)
        try journal.setReader("app", to: nil)
        try journal.trim(TrimBounds(greatestOutcomeBytes: 0))
        #expect(journal.outcomeCount == 0 && journal.outcomeLog.newest == OutcomeCursor(UInt64(count)))
        journal.close()
        let rows = try SampleJournal(existing: scratch.journal)
        #expect(try rows.rows("outcomeIndex").isEmpty && rows.rows("outcomeLog").isEmpty)
        #expect(try rows.verify().damage == [])
    }

    @Test(
        "The log keeps to its bound while notifications end, without anybody who trims, but not past whom it waits for")
    func bounded() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: options())
        let bound = 256 << 10
        _ = try journal.openReader("app", isWaitedFor: true)
        try end(20_000, journal, greatestBytes: bound)
        #expect(journal.outcomeLog.deleted == .start && journal.outcomeLog.bytes > 2 * bound)
        try journal.setReader("app", to: nil)
        // Some outcomes at a time: what one request adds is beside it.
        for first in stride(from: 20_000, to: 30_000, by: 500) {
            try end(500, journal, from: first, greatestBytes: bound)
            if first > 21_000 { #expect(journal.outcomeLog.bytes <= bound) }
        }
        #expect(
            journal.outcomeLog.deleted > OutcomeCursor(18_000) && journal.outcomeLog.newest == OutcomeCursor(30_000))
        try expectFound(29_000, journal)
        journal.close()
        #expect(try SampleJournal(existing: scratch.journal).verify().damage == [])
    }

    @Test(
        "With long contexts each commit leaves the log within its bound, or with no more than what itself has added",
        arguments: [2 << 20, 6 << 20])
    func boundedInEachCommit(bound: Int) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = options()
        options.greatestCommitTime = .seconds(60)
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        let commits = Monitor<[(newest: UInt64, bytes: Int)]>([])
        try journal.observeCommits { [unowned journal] report in
            let (newest, bytes) = (report.newestOutcome.rawValue, journal.outcomeLog.bytes)
            commits.withLock { $0.append((newest, bytes)) }
        }
        // A block has one of these outcomes, and a commit a thousand.
        try end(8000, journal, greatestBytes: bound, context: 2000)
        var (newest, greatest) = (UInt64(0), 0)
        for commit in commits.withLock({ $0 }) {
            let own = (Int(commit.newest - newest) + 16) * 4096
            #expect(commit.bytes <= max(bound, own), "\(commit.bytes) bytes at outcome \(commit.newest)")
            (newest, greatest) = (commit.newest, max(greatest, commit.bytes))
        }
        // None of what a commit adds goes with it, although that is more than the lesser bound.
        #expect(newest == 8000 && greatest > 3 << 20)
        // Behind what the last commit has left to others.
        try journal.trim(TrimBounds())
        #expect((bound / 2...bound).contains(journal.outcomeLog.bytes))
    }

    @Test("A bound that is lowered is reached in some commits, none of which deletes all at once")
    func boundLowered() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: options())
        defer { journal.close() }
        try end(4000, journal, greatestBytes: 64 << 20, context: 2000)
        let before = journal.outcomeLog.bytes
        let steps = Monitor<[Int]>([])
        try journal.observeCommits { [unowned journal] _ in
            let bytes = journal.outcomeLog.bytes
            steps.withLock { $0.append(bytes) }
        }
        try end(1, journal, from: 4000, greatestBytes: 1 << 20, context: 2000)
        try journal.trim(TrimBounds())
        #expect(before > 15 << 20 && journal.outcomeLog.bytes <= 1 << 20)
        var last = before
        for bytes in steps.withLock({ $0 }) {
            #expect(last - bytes <= 1100 * 4096)
            last = bytes
        }
    }

    @Test("Nobody is told an outcome before the journal knows it for its newest, whatever a snapshot has")
    func aheadOfMemory() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal, options: options())
        defer { journal.close() }
        try end(10, journal)
        let tables = try #require(journal.tables.outcomeLog)
        for newest in [UInt64(0), 1, 7, 10] {
            // As between a commit and the moment when memory has it.
            let page = try journal.readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                var damage = OutcomeDamage()
                return try OutcomeReading.page(
                    after: .start, limit: 100, newest: newest, producers: ["default"], in: snapshot, tables, &damage)
            }
            #expect(page?.outcomes.count == Int(newest) && page?.end == OutcomeCursor(newest))
        }
    }

    @Test("Damage in the index costs time and no outcome; verify names it, and a block and a gap")
    func damaged() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal, options: options())
        try end(Self.segment + 100, journal)
        try waitForIndex(journal, below: 1)
        journal.close()
        let sample = try SampleJournal(existing: scratch.journal)
        for row in try sample.rows("outcomeIndex").prefix(40) {
            try sample.put("outcomeIndex", row.key, row.value.dropLast() + [row.value[row.value.count - 1] ^ 1])
        }
        #expect(try sample.verify().damage.allSatisfy { $0.table == "outcomeIndex" })
        #expect(try sample.verify().damageCount >= 40)
        journal = try LMDBJournal(directory: scratch.journal, options: options())
        for number in stride(from: 0, to: Self.segment, by: 9973) { try expectFound(number, journal) }
        journal.close()
        let block = try sample.rows("outcomeLog")[3]
        try sample.put("outcomeLog", block.key, block.value.dropLast() + [block.value[block.value.count - 1] ^ 1])
        #expect(try sample.verify().damage.contains { $0.table == "outcomeLog" })
        journal = try LMDBJournal(directory: scratch.journal, options: options())
        let count = try journal.allOutcomes().count
        #expect(count > Self.segment - 100 && count < Self.segment + 100)
        journal.close()
        try sample.put("outcomeLog", block.key, nil)
        // Nothing that a salvage could mend: it is said, and the journal counts as sound.
        #expect(try sample.verify().remarks.contains { $0.contains("are missing") })
    }

    @Test("Outcomes that an older Holdfast left are moved into the log, and the engine's reader stands before them")
    func moved() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var sample = try SampleJournal(at: scratch.journal, count: 10)
        // As a journal of format 2 has them.
        let record =
            "1b5fa61dad8343ec48466f63010203049a010c0003000700e86be5cf8b0100000068e5cf8b010000e76be5cf"
            + "8b01000011111111111111112222222222222222deadbeef090807556e72656769737465726564"
        let old = try #require(Hex.bytes(record))
        for name in ["outcomeLog", "outcomeReaders", "outcomeIndex"] {
            for row in try sample.rows(name) { try sample.put(name, row.key, nil) }
        }
        try sample.put("facts", OutcomeTables.boundsKey, nil)
        try sample.put("facts", EntriesStore.formatKey, [2, 0, 0, 0])
        try sample.put("outcomes", Key.uid(0x0102_0304_0506_0708).span.array, old)
        // One that cannot be read stays.
        let unreadable = Key.uid(0x0102_0304_0506_0709).span.array
        try sample.put("outcomes", unreadable, old)
        for _ in 0..<2 {
            let journal = try LMDBJournal(directory: scratch.journal)
            let outcomes = try journal.allOutcomes()
            #expect(outcomes.map(\.uid) == [UID(0x0102_0304_0506_0708)])
            #expect(outcomes.first?.terminal == .rejected(.unregistered) && outcomes.first?.topic == "")
            let engine = OutcomeReader(name: OutcomeReader.engineName, cursor: .start, isWaitedFor: true)
            #expect(journal.outcomeReaders == [engine])
            #expect(journal.unreadOutcomeCount == 1)
            journal.close()
        }
        sample = try SampleJournal(existing: scratch.journal)
        #expect(try sample.rows("outcomes").map(\.key) == [unreadable])
        #expect(try sample.rows("facts").first { $0.key == EntriesStore.formatKey }?.value == [3, 0, 0, 0])
    }

    @Test("A backup, a compaction and a salvage keep the log, and its index works or is made anew")
    func copies() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal, options: options())
        try end(Self.segment + 100, journal)
        try waitForIndex(journal, below: 1)
        _ = try journal.openReader("hook", isWaitedFor: false)
        journal.close()
        let (backup, salvaged) = (scratch.path + "/backup.journal", scratch.path + "/salvaged.journal")
        _ = try JournalBackup.run(directory: scratch.journal, destination: backup)
        _ = try JournalCompaction.run(directory: scratch.journal)
        _ = try JournalSalvage.run(directory: scratch.journal, destination: salvaged)
        for path in [scratch.journal, backup, salvaged] {
            #expect(try SampleJournal(existing: path).verify().damage == [], "\(path)")
            journal = try LMDBJournal(directory: path, options: options())
            #expect(journal.outcomeCount == Self.segment + 100, "\(path)")
            #expect(journal.outcomeReaders.map(\.name) == ["hook"], "\(path)")
            try waitForIndex(journal, below: 1)
            for number in [5, 65_000, Self.segment + 50] { try expectFound(number, journal) }
            journal.close()
        }
    }

    @Test("Killed while a segment is indexed, nothing is lost, and the index is made anew", arguments: [0, 1, 2])
    func killed(round: Int) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.journal as String, round] in
            var options = LMDBJournal.Options()
            options.durability = .process
            let journal = try LMDBJournal(directory: path, options: options)
            try OutcomeLogTests().end(OutcomeLogTests.segment + 10, journal)
            // Some rows of the index are there by now, or none, or all.
            while journal.shared.withLock({ $0.figures.logPages }) < 1100 + 80 * round {
                try journal.setNote("look", to: [1])
                if OutcomeLogTests().indexed(journal) > 0 { break }
            }
            kill(getpid(), SIGKILL)
        }
        let journal = try LMDBJournal(directory: scratch.journal, options: options())
        for number in [0, 30_000, Self.segment + 5] { try expectFound(number, journal) }
        try waitForIndex(journal, below: 1)
        for number in [0, 30_000, Self.segment + 5] { try expectFound(number, journal) }
        journal.close()
        #expect(try SampleJournal(existing: scratch.journal).verify().damage == [])
    }
}

extension Submission {
    fileprivate mutating func add(_ notification: PushNotification, _ lane: LaneID, id: NotificationID) {
        let start = bytes.count
        PackedNotification.append(
            notification, id: id, expiration: .at(1_900_000_000), acceptedAt: acceptance, producer: "", to: &bytes)
        items.append(Item(lane: lane, range: start..<bytes.count))
    }
}
