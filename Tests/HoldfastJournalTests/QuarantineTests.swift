import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPlatform
import HoldfastTesting
import Testing

@testable import HoldfastJournal

/// Records of the real journal that cannot be read: what is done about them, by the engine, by readers, by copies.
@Suite("Quarantine", .timeLimit(.minutes(1)))
struct QuarantineTests {
    /// Makes the record of an entry unreadable where it lies, as wear of the disk would, or as a newer Holdfast would have
    /// written it.
    private static func damage(_ path: String, _ uid: UInt8, newer: Bool = false, lane: UInt8 = 3) throws {
        let journal = try SampleJournal(existing: path)
        try journal.change("entries", SampleJournal.entryKey(lane, uid)) { record in
            var record = record
            guard newer else {
                record[60] ^= 1
                return record
            }
            record[12] = 9
            var bytes = record.mutableSpan
            bytes.store(XXH64.hash(bytes.span, from: 8), at: 0)
            return record
        }
    }

    private static func engine(_ journal: LMDBJournal, _ connector: InMemoryConnector) throws -> PushEngine {
        try PushEngine(journal: journal, routes: [Route(connector: connector)])
    }

    /// Journals notifications through an engine that does not run.
    private static func fill(_ path: String, count: Int) async throws {
        let journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        let engine = try engine(journal, InMemoryConnector())
        _ = await engine.producer.submit((0..<count).map { sample($0) })
    }

    /// Delivers what there is.
    private static func deliver(_ path: String, to connector: InMemoryConnector) async throws {
        let journal = try LMDBJournal(directory: path)
        defer { journal.close() }
        let engine = try engine(journal, connector)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func totalsHold(_ path: String, quarantined: Int) throws {
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let status = try reader.status()
        let totals = status.totals
        let ended = totals.ended
        #expect(status.quarantined == quarantined)
        #expect(totals.accepted == ended + UInt64(status.unconfirmed + quarantined))
        #expect(status.lanes.reduce(0) { $0 + $1.quarantined } == quarantined)
    }

    @Test(
        "One unreadable record among a thousand: 999 are delivered, and a restart sends nothing",
        arguments: [false, true])
    func middle(newer: Bool) async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        try await Self.fill(scratch.journal, count: 1000)
        try Self.damage(scratch.journal, 200, newer: newer)
        let connector = InMemoryConnector()
        try await Self.deliver(scratch.journal, to: connector)
        #expect(connector.sent.count == 999)
        try totalsHold(scratch.journal, quarantined: 1)
        try await Self.deliver(scratch.journal, to: connector)
        #expect(connector.sent.count == 999)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        let kept = try reader.quarantined(limit: 10)
        #expect(kept.map(\.uid) == [UID(200)])
        #expect(kept[0].fault == (newer ? .newerVersion(9) : .damaged("its checksum is wrong")))
        #expect(kept[0].producer == "default")
        let report = try JournalVerification.run(directory: scratch.journal)
        #expect(report.damage.isEmpty, "\(report.damage)")
        #expect(report.rows["quarantine"] == 1)
    }

    private func journal(_ scratch: Scratch, count: Int = 10) throws -> (LMDBJournal, LaneID) {
        let journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<count, to: lane)
        return (journal, lane)
    }

    private func order(_ lane: LaneID, _ entries: [UnreadableEntry], possiblySent: Bool = false) -> QuarantineOrder {
        QuarantineOrder(
            lane: lane, items: entries.map { QuarantineOrder.Item($0, isPossiblySent: possiblySent) }, at: acceptance)
    }

    @Test("A read names what it could not read, and gives what it could") func reads() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var (journal, lane) = try journal(scratch)
        journal.close()
        try Self.damage(scratch.journal, 1, lane: 1)
        try Self.damage(scratch.journal, 6, newer: true, lane: 1)
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let wanted = [
            UnreadableEntry(uid: UID(1), fault: .damaged("its checksum is wrong")),
            UnreadableEntry(uid: UID(6), fault: .newerVersion(9)),
        ]
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 100)
        #expect(batch.items.map(\.uid) == uids(2...5) + uids(7...10))
        #expect(batch.unreadable == wanted)
        #expect(try journal.unconfirmed(lane, after: .none, through: .max, limit: 1).unreadable == [wanted[0]])
        let some = try journal.unconfirmed(lane, uids: [UID(1), UID(5), UID(6)])
        #expect(some.items.map(\.uid) == [UID(5)])
        #expect(some.unreadable == wanted)
    }

    @Test("What is quarantined is kept byte for byte, listed after a reopening, and brought back where it can be read")
    func kept() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var (journal, lane) = try journal(scratch)
        journal.close()
        let sound = try SampleJournal(existing: scratch.journal).rows("entries").map(\.value)
        try Self.damage(scratch.journal, 3, lane: 1)
        let damaged = try SampleJournal(existing: scratch.journal).rows("entries")[2].value
        journal = try LMDBJournal(directory: scratch.journal)
        let found = try journal.unconfirmed(lane, after: .none, through: .max, limit: 100).unreadable
        #expect(try journal.quarantine(order(lane, found, possiblySent: true)) == [UID(3)])
        #expect(try journal.quarantine(order(lane, found)).isEmpty, "it is there already")
        #expect(journal.quarantinedCount == 1)
        #expect(journal.depth(lane) == 9)
        #expect(journal.backlog(of: try journal.openProducer("default")) == 9)
        #expect(try journal.retry([UID(3)]).isEmpty, "it is as damaged as before")
        journal.close()
        #expect(try SampleJournal(existing: scratch.journal).format() == 2)

        journal = try LMDBJournal(directory: scratch.journal)
        #expect(try journal.quarantined(after: .none, limit: 9).map(\.record) == [damaged])
        #expect(try journal.fate(of: UID(3)) == .quarantined(immediate, possiblySent: true))
        journal.close()
        // As if a Holdfast that understands it had come.
        try SampleJournal(existing: scratch.journal).change("quarantine", SampleJournal.uidKey(3)) { row in
            var record = try QuarantineRecord(row, uid: 3)
            record.record = sound[2]
            return record.bytes
        }
        journal = try LMDBJournal(directory: scratch.journal)
        #expect(try journal.retry([UID(2), UID(3), UID(99)]) == [UID(3)])
        #expect(journal.quarantinedCount == 0)
        #expect(journal.depth(lane) == 10)
        #expect(journal.backlog(of: try journal.openProducer("default")) == 10)
        #expect(try journal.promote(lane, now: acceptance.milliseconds) == [UID(3)])
        let item = try journal.unconfirmed(lane, uids: [UID(3)]).items[0]
        #expect(item.isPossiblySent)
        journal.close()
        #expect(try JournalVerification.run(directory: scratch.journal).damage.isEmpty)
    }

    @Test("A quarantined entry is withdrawn as any other, and counted", arguments: [false, true])
    func dropped(possiblySent: Bool) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try journal(scratch)
        defer { journal.close() }
        let entry = UnreadableEntry(uid: UID(3), fault: .damaged("a test says so"))
        try journal.quarantine(order(lane, [entry], possiblySent: possiblySent))
        let batch = SettlementBatch(
            others: [Settlement(EntryKey(lane: lane, uid: UID(3)), .withdraw)], keepsOutcomes: true)
        let report = try journal.settle(batch)
        #expect(report == SettlementReport(settled: 1, gone: 0, withdrawn: possiblySent ? 0 : 1))
        #expect(try journal.settle(batch).gone == 1)
        let status = try journal.status()
        #expect(status.quarantined == 0)
        #expect(status.totals.withdrawn == (possiblySent ? 0 : 1))
        #expect(status.totals.unknown == (possiblySent ? 1 : 0))
        #expect(try journal.outcomes(after: .start, limit: 9).outcomes.map(\.uid) == [UID(3)])
    }

    @Test("A damaged rejection, outcome or deferred entry hides no other") func neighbours() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var (journal, lane) = try journal(scratch)
        var batch = SettlementBatch(keepsOutcomes: true)
        for uid in uids(1...3) { batch.others.append(Settlement(EntryKey(lane: lane, uid: uid), .reject(rejection))) }
        for uid in uids(4...6) {
            batch.others.append(
                Settlement(EntryKey(lane: lane, uid: uid), SampleJournal.deferral(possiblySent: false)))
        }
        try journal.settle(batch)
        journal.close()
        let sample = try SampleJournal(existing: scratch.journal)
        try sample.change("rejections", SampleJournal.uidKey(2)) { row in
            row.dropLast() + [row[row.count - 1] ^ 1]
        }
        try sample.change("outcomeLog", SampleJournal.uidKey(1)) { row in
            row.dropLast() + [row[row.count - 1] ^ 1]
        }
        let place = try #require(try sample.rows("deferred").first { $0.key.last == 5 }).key
        try sample.change("deferred", place) { row in row.dropLast() + [row[row.count - 1] ^ 1] }

        journal = try LMDBJournal(directory: scratch.journal)
        #expect(try journal.rejections(after: .none, limit: 2).map(\.uid) == [UID(1), UID(3)])
        // What is behind the damaged block is read, and the next outcome has the next number.
        #expect(try journal.outcomes(after: .start, limit: 9) == OutcomePage(outcomes: [], end: OutcomeCursor(3)))
        try journal.settle(
            SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: UID(10))], keepsOutcomes: true))
        #expect(try journal.outcomes(after: .start, limit: 9).outcomes.map(\.cursor) == [OutcomeCursor(4)])
        guard case .deferred(immediate, _, attempts: 0, _)? = try journal.fate(of: UID(5)) else {
            Issue.record("its place is known")
            return
        }
        #expect(try journal.promote(lane, now: .max) == uids(4...6))
        let found = try journal.unconfirmed(lane, after: .none, through: .max, limit: 100)
        #expect(found.items.map(\.uid) == [UID(4)] + uids(6...9))
        #expect(try journal.quarantine(order(lane, found.unreadable)) == [UID(5)])
        journal.close()
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.entries(limit: 100).map(\.uid) == [UID(1), UID(3), UID(4)] + uids(6...9))
        var listing = reader.listing(matching: EntryFilter())
        while let page = try listing.next() { _ = page }
        #expect(listing.unreadableCount == 1)
        #expect(listing.firstFault?.message.contains("UID 2") == true)
    }

    @Test("Killed in the middle of quarantining, each entry is in one place and counted once") func killed()
        async throws
    {
        let scratch = Scratch()
        defer { scratch.remove() }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.journal as String] in
            var options = LMDBJournal.Options()
            options.greatestSettlementCommit = 7
            let journal = try LMDBJournal(directory: path, options: options)
            let lane = try journal.openLane(immediate).id
            try journal.append(0..<1000, to: lane)
            let items = (1...1000).map { number in
                QuarantineOrder.Item(
                    UnreadableEntry(uid: UID(UInt64(number)), fault: .newerVersion(2)), isPossiblySent: false)
            }
            let commits = Monitor(0)
            try journal.observeCommits { _ in
                let count = commits.withLock { count in
                    count += 1
                    return count
                }
                if count == 60 { _ = HoldfastPlatform.kill(getpid(), SIGKILL) }
            }
            journal.quarantine(QuarantineOrder(lane: lane, items: items, at: acceptance)) { _ in }
            try await Task.sleep(for: .seconds(60))
        }
        let journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        let aside = try journal.quarantined(after: .none, limit: .max).map(\.uid)
        #expect(aside.count > 0 && aside.count < 1000)
        #expect((aside + (try journal.uids(lane))).sorted() == uids(1...1000))
        #expect(journal.depth(lane) == 1000 - aside.count)
        #expect(journal.backlog(of: try journal.openProducer("default")) == 1000 - aside.count)
        journal.close()
        try totalsHold(scratch.journal, quarantined: aside.count)
    }

    @Test("A backup and a compaction keep the quarantine; a backup's may have been sent") func copies() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try journal(scratch)
        try journal.quarantine(order(lane, [UnreadableEntry(uid: UID(3), fault: .damaged("a test says so"))]))
        journal.close()
        let backup = scratch.path + "/backup.journal"
        _ = try JournalBackup.run(directory: scratch.journal, destination: backup)
        _ = try JournalCompaction.run(directory: scratch.journal)
        for (path, possiblySent) in [(scratch.journal, false), (backup, true)] {
            let reader = try JournalReader(directory: path)
            defer { reader.close() }
            let kept = try reader.quarantined(limit: 9)
            #expect(kept.map(\.uid) == [UID(3)])
            #expect(kept.map(\.isPossiblySent) == [possiblySent])
            #expect(try JournalVerification.run(directory: path).damage.isEmpty)
        }
    }

    @Test("Salvage takes the quarantine along") func salvage() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let (journal, lane) = try journal(scratch)
        try journal.quarantine(order(lane, [UnreadableEntry(uid: UID(3), fault: .damaged("a test says so"))]))
        journal.close()
        let copy = scratch.path + "/salvaged.journal"
        _ = try JournalSalvage.run(directory: scratch.journal, destination: copy)
        #expect(try JournalVerification.run(directory: copy).damage.isEmpty)
        let reader = try JournalReader(directory: copy)
        defer { reader.close() }
        #expect(try reader.quarantined(limit: 9).map(\.uid) == [UID(3)])
        #expect(try reader.status().unconfirmed == 9)
    }
}

extension LMDBJournal {
    @discardableResult
    func quarantine(_ order: QuarantineOrder) throws -> [UID] {
        let box = Box<Result<[UID], JournalError>>()
        quarantine(order) { result in box.put(result) }
        return try box.get().get()
    }

    func retry(_ uids: [UID]) throws -> [UID] {
        let box = Box<Result<[UID], JournalError>>()
        retryQuarantined(uids, now: acceptance) { result in box.put(result) }
        return try box.get().get()
    }
}

extension SampleJournal {
    func format() throws -> UInt32 {
        let row = try rows("facts").first { $0.key == EntriesStore.formatKey }
        return row?.value.span.littleEndian32(at: 0) ?? 0
    }
}
