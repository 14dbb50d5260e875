import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastLMDB
import Testing

@Suite("Reading from outside")
struct ReaderTests {
    /// 1 and 2 possibly sent, 3 deferred, 4 rejected, 5 never sent; 6 and 7 of another lane, 6 possibly sent.
    private func assorted(_ journal: LMDBJournal) throws {
        let lane = try journal.openLane(immediate).id
        let other = try journal.openLane(considerate).id
        _ = try journal.append(0..<5, to: lane)
        _ = try journal.append(5..<7, to: other)
        journal.raiseMark(of: lane, to: UID(2))
        journal.raiseMark(of: other, to: UID(6))
        try journal.settle(
            UID(3), lane,
            .deferUntil(.init(milliseconds: 77), attempts: 4, reason: .tooManyRequests, possiblySent: false))
        try journal.settle(UID(4), lane, .reject(rejection))
    }

    private func check(_ reader: JournalReader) throws {
        let entries = try reader.entries(limit: 100)
        #expect(entries.map(\.uid) == uids(1...7))
        #expect(
            entries.map(\.state) == [
                .possiblySent, .possiblySent, .deferred(until: .init(milliseconds: 77)), .rejected(rejection),
                .neverSent,
                .possiblySent, .neverSent,
            ])
        #expect(entries.map(\.lane) == Array(repeating: immediate, count: 5) + [considerate, considerate])
        #expect(entries[2].attempts == 4)
        #expect(entries[2].lastReason == .tooManyRequests)
        #expect(entries[3].acceptedAt == WallTime(milliseconds: 1_700_000_000_123))
        for (index, entry) in entries.enumerated() { #expect(entry.notification.payload == sample(index).payload) }
        #expect(try reader.entries(limit: 100, states: [.neverSent]).map(\.uid.rawValue) == [5, 7])
        #expect(try reader.entries(limit: 100, states: [.possiblySent]).map(\.uid.rawValue) == [1, 2, 6])
        #expect(
            try reader.entries(after: UID(1), limit: 2, states: [.possiblySent, .rejected]).map(\.uid.rawValue) == [
                2, 4,
            ])
        #expect(try reader.entries(after: UID(2), limit: 100, states: [.deferred]).map(\.uid.rawValue) == [3])
        #expect(try reader.entries(after: .max, limit: 1).isEmpty)
        #expect(try reader.entry(UID(4))?.state == .rejected(rejection))
        #expect(try reader.entry(UID(8)) == nil)
        let status = try reader.status()
        #expect(status.unconfirmed == 6)
        #expect(status.possiblySent == 3)
        #expect(status.deferred == 1)
        #expect(status.rejections == 1)
        #expect(status.nextUID == UID(8))
        #expect(status.totals.accepted == 7)
        #expect(status.limitBytes == 16 << 30)
        #expect(status.lanes.map(\.key) == [immediate, considerate])
    }

    @Test("What is kept aside is shown by its UID, and listed when it is asked for")
    func aside() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        try assorted(journal)
        let lane = try journal.openLane(immediate).id
        let since = WallTime(milliseconds: 1_700_000_000_456)
        try journal.settle(
            SettlementBatch(
                settledAt: since, quieted: [EntryKey(lane: lane, uid: UID(1)), EntryKey(lane: lane, uid: UID(5))],
                greatestAside: 10))
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(journal.asideCount == 2)
        #expect(try reader.entries(limit: 100).map(\.uid.rawValue) == [2, 3, 4, 6, 7])
        #expect(try reader.entries(limit: 100, states: [.aside]).map(\.uid.rawValue) == [1, 5])
        #expect(try reader.entries(limit: 100, states: [.aside, .rejected]).map(\.uid.rawValue) == [1, 4, 5])
        let entry = try #require(try reader.entry(UID(5)))
        #expect(entry.state == .aside(since: since))
        #expect(entry.lane == immediate && entry.notification.payload == sample(4).payload)
        var filter = EntryFilter()
        filter.states = [.aside]
        filter.tokens = [TokenPattern(sample(4).token!.hex)!]
        #expect(try reader.entries(matching: filter, limit: 10).map(\.uid.rawValue) == [5])
    }

    @Test("At rest everything is listed in UID order with its state, and no owner gets in meanwhile")
    func atRest() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        try assorted(journal)
        journal.close()
        let reader = try JournalReader(directory: scratch.journal)
        #expect(reader.owner == nil)
        try check(reader)
        let second = try JournalReader(directory: scratch.journal)
        try check(second)
        second.close()
        try check(reader)
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: scratch.journal) }
        #expect(error?.code == .beingRead)
        #expect(error?.message.contains("which reads it") == true)
        reader.close()
        #expect(throws: JournalError.self) { try reader.status() }
        try LMDBJournal(directory: scratch.journal).close()
    }

    @Test("Any number of readers open a journal at the same moment in one process, at rest")
    func atOnce() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        try assorted(journal)
        journal.close()
        let path = scratch.journal
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let reader = try JournalReader(directory: path)
                    defer { reader.close() }
                    return try reader.status().totals.accepted
                }
            }
            for try await accepted in group { #expect(accepted == 7) }
        }
    }

    @Test("In the owner's own process it shares the owner's environments, and outlives the owner")
    func inProcess() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        try assorted(journal)
        let reader = try JournalReader(directory: scratch.journal)
        #expect(reader.owner?.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
        try check(reader)
        let lane = try journal.openLane(immediate).id
        #expect(try journal.append(7..<9, to: lane) == UID(8))
        #expect(try reader.entries(after: UID(7), limit: 10).count == 2)
        journal.close()
        #expect(try reader.entries(after: UID(7), limit: 10).count == 2)
        reader.close()
        journal = try LMDBJournal(directory: scratch.journal)
        #expect(try journal.append(7..<9, to: lane) == UID(10))
        journal.close()
    }

    @Test("Another process reads a journal in use, whole records in UID order, while writes go on")
    func live() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let done = Signpost(path: scratch.path + "/done")
        _ = try journal.append(0..<1000, to: lane)
        async let child = #expect(processExitsWith: .success) {
            [path = scratch.journal as String, done = done.path as String] in
            let reader = try JournalReader(directory: path)
            #expect(reader.owner != nil)
            for _ in 0..<30 {
                let entries = try reader.entries(limit: 5000)
                #expect(entries.count >= 500)
                #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.uid < $1.uid })
                for entry in entries {
                    #expect(entry.notification.payload == sample(Int(entry.uid.rawValue) - 1).payload)
                }
                let status = try reader.status()
                #expect(status.totals.accepted - status.totals.confirmed == UInt64(status.unconfirmed))
            }
            reader.close()
            Signpost(path: done).raise()
        }
        var next = 1000
        while !FileManager.default.fileExists(atPath: done.path), next < 500_000 {
            _ = try journal.append(next..<next + 100, to: lane)
            next += 100
            let oldest = UInt64(next - 1100)
            try journal.acknowledge(uids(oldest + 1...oldest + 100), lane)
            // The child has nothing to raise when it fails; then its failure ends the test.
            if next % 50_000 == 0 { await Task.yield() }
        }
        _ = await child
    }

    @Test("A listing that is paused keeps no pages: the file does not grow under a steady load")
    func paused() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let entries = scratch.journal + "/entries"
        func live(_ rounds: Int) throws -> Int {
            for _ in 0..<rounds {
                let first = try journal.append(0..<200, to: lane)
                try journal.acknowledge(uids(first.rawValue...first.rawValue + 199), lane)
            }
            return try DataFile.highWaterPages(entries)
        }
        _ = try journal.append(0..<3000, to: lane)
        let settled = try live(50)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        // Paused here, in the middle of a listing.
        #expect(try reader.entries(limit: 2500).count == 2500)
        #expect(try live(200) <= settled + 8)
        #expect(try journal.slowestReader() == nil)
        // That a snapshot held open does make it grow is what the measure is worth.
        guard let environment = try Environment.share(entries) else { throw TimedOut() }
        defer { environment.close() }
        let pool = ReaderPool(environment)
        defer { pool.close() }
        let grown = try pool.read { (_: borrowing Snapshot) in
            Result {
                let pages = try live(200)
                let lag = try journal.slowestReader()
                #expect(lag?.process == ProcessInfo.processInfo.processIdentifier && lag?.commits ?? 0 >= 400)
                return pages
            }
        }
        #expect(try grown?.get() ?? 0 > settled + 1000)
    }

    @Test("Long listings come in UID order however many lanes and snapshots they take")
    func longListing() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        let lanes = [
            try journal.openLane(immediate).id, try journal.openLane(considerate).id, try journal.openLane(once).id,
        ]
        _ = try journal.openProducer("default")
        var mixed = Submission()
        for number in 0..<9000 { mixed.add(sample(number, payloadByteCount: 60), lanes[number * 7 % 3]) }
        _ = try journal.append(mixed)
        for uid in stride(from: UInt64(1), through: 9000, by: 5) {
            try journal.settle(UID(uid), lanes[Int(uid - 1) * 7 % 3], .reject(rejection))
        }
        journal.close()
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.entries(limit: .max).map(\.uid) == uids(1...9000))
        #expect(try reader.entries(limit: .max, states: [.rejected]).count == 1800)
        #expect(try reader.entries(after: UID(4000), limit: 4500).map(\.uid) == uids(4001...8500))
    }
}
