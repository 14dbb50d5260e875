import Foundation
import HoldfastLMDB
import Testing

@testable import Holdfast
@testable import HoldfastJournal

/// Blocks of the history that can't be read, and what is told of them.
@Suite("A damaged history")
struct OutcomeDamageTests {
    private static let count = 300

    /// A closed journal with 300 outcomes, of which a block can't be read: its numbers.
    private func damaged(_ scratch: Scratch, block number: Int = 1) throws -> ClosedRange<UInt64> {
        let journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        try journal.append(1...Self.count, to: lane)
        let keys = (1...UInt64(Self.count)).map { EntryKey(lane: lane, uid: UID($0)) }
        try journal.settle(SettlementBatch(acknowledging: keys, keepsOutcomes: true))
        journal.close()
        let sample = try SampleJournal(existing: scratch.journal)
        let rows = try sample.rows("outcomeLog")
        try #require(rows.count > 2)
        // Every copy that lies in the file.
        let content = Data(rows[number].value[48..<112])
        try patch(sample.entries) { data in
            var start = data.startIndex
            while let found = data.range(of: content, in: start..<data.endIndex) {
                data[found.lowerBound] ^= 1
                start = found.upperBound
            }
        }
        let firsts = rows.map { row in row.key.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } } + [UInt64(Self.count) + 1]
        return firsts[number]...(firsts[number + 1] - 1)
    }

    private struct Told: Equatable {
        var cursors: [UInt64] = []
        /// By the cursor behind which it was told.
        var gaps: [UInt64: Int] = [:]
    }

    /// What a reader is told that lists everything.
    private func told(_ reading: OutcomeLogReading, from start: OutcomeCursor? = .start) throws -> Told {
        var told = Told()
        var cursor = start
        while true {
            let listing = try reading.listing(after: cursor, limit: 1000, of: nil)
            #expect(listing.missed == listing.unreadable)
            if listing.missed > 0 { told.gaps[cursor?.rawValue ?? 0] = listing.missed }
            told.cursors += listing.outcomes.map(\.cursor.rawValue)
            guard listing.end > cursor ?? .start else { return told }
            cursor = listing.end
        }
    }

    private func expectTold(_ lost: ClosedRange<UInt64>, _ reading: OutcomeLogReading) throws {
        let all = Set(1...UInt64(Self.count)).subtracting(lost).sorted()
        let gap = [lost.lowerBound - 1: lost.count]
        #expect(try told(reading) == Told(cursors: all, gaps: gap))
        #expect(try told(reading, from: nil).gaps == gap)
    }

    @Test("A reader that passes unreadable outcomes is told how many, before what lies behind them", arguments: [1, 4])
    func listed(block: Int) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let lost = try damaged(scratch, block: block)
        let reader = try JournalReader(directory: scratch.journal)
        try expectTold(
            lost,
            OutcomeLogReading(
                log: { () throws(JournalError) in try reader.outcomeLog() },
                page: { (after, limit) throws(JournalError) in try reader.outcomes(after: after, limit: limit) },
                keeping: { () in OutcomeKeeping.Standing() }))
        reader.close()
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.outcomeLog.unreadable == 0)
        try expectTold(lost, OutcomeLogReading(journal))
        // Met twice, and counted once.
        #expect(journal.outcomeLog.unreadable == lost.count && journal.outcomeCount == Self.count)
        // In the middle of the block as well.
        let listing = try OutcomeLogReading(journal).listing(
            after: OutcomeCursor(lost.lowerBound + 4), limit: 9, of: nil)
        #expect(listing.unreadable == lost.count - 5)
        try journal.trim(TrimBounds(greatestOutcomeBytes: 0))
        #expect(journal.outcomeLog.unreadable == 0 && journal.outcomeCount == 0)
    }

    @Test("A search says how many outcomes it could not look at, and finds the others", arguments: [1, 4])
    func searched(block: Int) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let lost = try damaged(scratch, block: block)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        func find(_ uid: UInt64, limit: Int = 1) throws -> OutcomePage {
            var query = OutcomeQuery()
            query.uid = UID(uid)
            return try journal.findOutcomes(query, before: nil, limit: limit, mostBytes: .max)
        }
        #expect(try find(lost.lowerBound) == OutcomePage(outcomes: [], end: .start, unreadable: lost.count))
        #expect(journal.outcomeLog.unreadable == lost.count)
        #expect(try find(1, limit: 2).outcomes.map(\.uid) == [UID(1)])
        #expect(try find(1, limit: 2).unreadable == lost.count)
        // Found before the damage is met.
        if block == 1 { #expect(try find(UInt64(Self.count)).unreadable == 0) }
        // Page by page it is counted once.
        var (before, unreadable, found) = (OutcomeCursor?.none, 0, 0)
        repeat {
            let page = try journal.findOutcomes(OutcomeQuery(), before: before, limit: 50, mostBytes: .max)
            (before, unreadable, found) = (page.end, unreadable + page.unreadable, found + page.outcomes.count)
        } while before != .start
        #expect(unreadable == lost.count && found == Self.count - lost.count)
    }

    @Test("A segment with a damaged block gets no index, which would hide the block")
    func unindexed() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        _ = try damaged(scratch)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let indexer = OutcomeIndexer(
            try #require(journal.tables.outcomeLog), journal.readers, key: journal.identityKey)
        let work = try #require(indexer.build(0))
        #expect(work.rows.isEmpty && work.isDone)
    }

    @Test(
        "A salvage says how many outcomes are lost, counts what is there, and gives no cursor twice", arguments: [1, 4])
    func salvaged(block: Int) throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let lost = try damaged(scratch, block: block)
        let new = scratch.path + "/new.journal"
        let report = try JournalSalvage.run(directory: scratch.journal, destination: new)
        #expect(report.lostOutcomes == lost.count)
        #expect(report.remarks.contains { $0.contains("\(lost.count) outcomes of the history are lost") })
        #expect(try SampleJournal(existing: new).verify().isSound)
        let again = scratch.path + "/again.journal"
        #expect(try JournalSalvage.run(directory: new, destination: again).lostOutcomes == 0)
        for path in [new, again] {
            let journal = try LMDBJournal(directory: path)
            defer { journal.close() }
            #expect(journal.outcomeLog.newest == OutcomeCursor(UInt64(Self.count)))
            #expect(journal.outcomeCount == Self.count - lost.count && journal.outcomeLog.lost == lost.count)
            try expectTold(lost, OutcomeLogReading(journal))
            // It is gone, and no damage of this journal's.
            #expect(journal.outcomeLog.unreadable == 0)
            let lane = try journal.openLane(immediate).id
            let uid = try journal.append(1...1, to: lane)
            try journal.settle(
                SettlementBatch(acknowledging: [EntryKey(lane: lane, uid: uid)], keepsOutcomes: true))
            #expect(try journal.allOutcomes().last?.cursor == OutcomeCursor(UInt64(Self.count) + 1))
            try journal.trim(TrimBounds(greatestOutcomeBytes: 0))
            #expect(journal.outcomeLog.lost == 0 && journal.outcomeCount == 0)
        }
    }

    @Test("The bounds with lost outcomes are read as they were written") func bounds() throws {
        var bounds = OutcomeLogBounds()
        (bounds.deleted, bounds.newest, bounds.unindexed, bounds.lost) = (5, 70000, 1, 65)
        #expect(bounds.bytes.count == 48 && bounds.bytes[12] == 2)
        #expect(try OutcomeLogBounds(bounds.bytes) == bounds)
        bounds.delete(through: 105, having: 60)
        #expect(bounds.lost == 25 && bounds.deleted == 105)
    }
}
