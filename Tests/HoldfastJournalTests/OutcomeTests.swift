import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

@Suite("Outcomes, rejections and fates")
struct OutcomeTests {
    private let settledAt = WallTime(milliseconds: 1_700_000_005_000)

    private func settle(
        _ journal: LMDBJournal, _ lane: LaneID, _ others: [(UInt64, Settlement.Kind)], keeps: Bool = true
    )
        throws
    {
        try journal.settle(
            SettlementBatch(
                others: others.map { Settlement(EntryKey(lane: lane, uid: UID($0.0)), $0.1) }, settledAt: settledAt,
                keepsOutcomes: keeps))
    }

    @Test("Each terminal outcome is kept whole in its settlement's commit, in the order of ending; across reopening")
    func kept() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        var notification = sample(3)
        notification.tag = [1, 2, 3]
        var mixed = submission(0..<3, lane, producer: try journal.openProducer("batch"))
        mixed.add(notification, lane)
        for number in 4..<9 { mixed.add(sample(number), lane) }
        _ = try journal.append(mixed)
        let newest = Monitor<[UInt64]>([])
        try journal.observeCommits { report in newest.withLock { $0.append(report.newestOutcome.rawValue) } }
        let cause = RejectionCause(
            reason: Reason(rawValue: "Brand\u{e9}"), status: 410, timestamp: WallTime(milliseconds: 77),
            rejectedAt: WallTime(milliseconds: 88))
        let due = Settlement.Kind.deferUntil(settledAt, attempts: 1, reason: .shutdown, possiblySent: false)
        try settle(journal, lane, [(4, .reject(cause)), (5, .expire), (6, .unknown), (7, due), (4, .expire)])
        try journal.settle(
            SettlementBatch(
                acknowledging: [1, 7].map { EntryKey(lane: lane, uid: UID($0)) }, settledAt: settledAt,
                keepsOutcomes: true))
        // Not kept for those who did not ask.
        try journal.acknowledge([UID(2)], lane)
        #expect(newest.withLock { $0 }.suffix(3) == [3, 5, 5])
        journal.endObserving()
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.outcomeCount == 5)
        #expect(try journal.status().outcomes == 5)
        let outcomes = try journal.outcomes(after: .start, limit: 100).outcomes
        #expect(outcomes.map(\.uid.rawValue) == [4, 5, 6, 1, 7])
        #expect(outcomes.map(\.terminal) == [.rejected(cause.reason), .expired, .unknown, .confirmed, .confirmed])
        #expect(outcomes.map(\.history.attempts) == [1, 0, 0, 1, 2])
        #expect(
            outcomes[0]
                == Outcome(
                    cursor: OutcomeCursor(1), uid: UID(4), terminal: .rejected(cause.reason), cause: cause,
                    history: DeliveryHistory(acceptedAt: acceptance, settledAt: settledAt, attempts: 1),
                    id: NotificationID(high: 3, low: 7), recipient: notification.recipient, topic: "com.example.app",
                    producer: "batch", tag: [1, 2, 3]))
        #expect(try journal.outcomes(after: OutcomeCursor(2), limit: 2).outcomes.map(\.uid.rawValue) == [6, 1])
        let batch = try #require(try journal.producers().first { $0.name == "batch" })
        #expect(batch.totals.ended == 6)
    }

    @Test("The application's context comes with each outcome, and the payload where it is asked for")
    func contexts() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        var submission = Submission(producer: try journal.openProducer("default"), acceptedAt: acceptance)
        for number in 0..<4 {
            var notification = sample(number)
            if number % 2 == 0 { notification.context = [UInt8](repeating: UInt8(number + 1), count: 4096) }
            submission.add(notification, lane)
        }
        _ = try journal.append(submission)
        for (uid, keepsPayloads) in [(1, false), (2, false), (3, true), (4, true)] as [(UInt64, Bool)] {
            var batch = SettlementBatch(
                acknowledging: [EntryKey(lane: lane, uid: UID(uid))], settledAt: settledAt, keepsOutcomes: true)
            batch.keepsPayloads = keepsPayloads
            try journal.settle(batch)
        }
        let outcomes = try journal.allOutcomes()
        #expect(outcomes.map(\.context.count) == [4096, 0, 4096, 0])
        #expect(outcomes[2].context.allSatisfy { $0 == 3 })
        #expect(outcomes.map(\.payload) == [[], [], sample(2).payload, sample(3).payload])
    }

    @Test("Single settlements fill one block, and do not take a page each")
    func filled() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<200, to: lane)
        for uid in uids(1...200) {
            if uid.rawValue % 50 == 0 {
                journal.close()
                journal = try LMDBJournal(directory: scratch.journal)
            }
            try journal.settle(
                SettlementBatch(
                    acknowledging: [EntryKey(lane: lane, uid: uid)], settledAt: settledAt, keepsOutcomes: true))
        }
        defer { journal.close() }
        #expect(try journal.allOutcomes().map(\.uid) == uids(1...200))
        let rows = try journal.read("count") { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.statistics(of: journal.tables.outcomeLog!.log).entries
        }
        #expect(rows <= 4)
        #expect(journal.outcomeLog.bytes <= 10 * 4096)
    }

    @Test("A journal at its limit drains to zero although each settlement leaves an outcome, and then accepts")
    func full() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.limit = 4 << 20
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        var last = UID.none
        while true {
            do { last = try journal.append(0..<100, to: lane, payloadByteCount: 60) } catch { break }
        }
        var generator = SplitMix64(state: 4)
        for part in uids(1...last.rawValue + 99).shuffled(using: &generator).chunks(of: 300) {
            try journal.settle(
                SettlementBatch(
                    acknowledging: part.map { EntryKey(lane: lane, uid: $0) }, settledAt: settledAt,
                    keepsOutcomes: true))
        }
        #expect(journal.depth(lane) == 0)
        #expect(journal.outcomeCount == Int(last.rawValue) + 99)
        // The log does not count against the limit.
        #expect(try journal.append(0..<100, to: lane).rawValue == last.rawValue + 100)
    }

    @Test("Rejections are listed with all that was submitted, why, when, by whom, and after how many attempts")
    func rejections() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.openProducer("default")
        _ = try journal.append(submission(0..<2500, lane, producer: try journal.openProducer("batch")))
        try journal.settle(
            UID(9), lane, .deferUntil(settledAt, attempts: 3, reason: .serviceUnavailable, possiblySent: false))
        try settle(journal, lane, (1...2500).map { ($0, .reject(rejection)) }, keeps: false)
        let all = try journal.rejections(after: .none, limit: .max)
        #expect(all.map(\.uid) == uids(1...2500))
        #expect(all[8].attempts == 3 && all[9].attempts == 0)
        #expect(all[8].cause == rejection && all[8].producer == "batch")
        var expected = sample(8)
        expected.id = NotificationID(high: 8, low: 7)
        expected.expiration = .at(1_900_000_000)
        #expect(all[8].notification == expected)
        #expect(try journal.rejections(after: UID(2498), limit: 1).map(\.uid) == [UID(2499)])
    }

    @Test("An entry's fate is known in each of its states, and as long as anything of it is kept")
    func fates() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let other = try journal.openLane(considerate).id
        try journal.append(0..<8, to: lane)
        try journal.append(0..<1, to: other)
        journal.raiseMark(of: lane, to: UID(2))
        try journal.settle(UID(8), lane, .expire)
        #expect(try journal.fate(of: UID(2)) == .unconfirmed(immediate, attempts: 0, possiblySent: true))
        #expect(try journal.fate(of: UID(3)) == .unconfirmed(immediate, attempts: 0, possiblySent: false))
        #expect(try journal.fate(of: UID(9)) == .unconfirmed(considerate, attempts: 0, possiblySent: false))
        try journal.settle(
            UID(4), lane, .deferUntil(settledAt, attempts: 2, reason: .tooManyRequests, possiblySent: true))
        #expect(
            try journal.fate(of: UID(4))
                == .deferred(immediate, until: settledAt, attempts: 2, reason: .tooManyRequests))
        #expect(try journal.status().possiblySent == 3)
        _ = try journal.promote(lane, now: .max)
        #expect(try journal.fate(of: UID(4)) == .unconfirmed(immediate, attempts: 2, possiblySent: true))
        #expect(try journal.status().possiblySent == 3)
        try settle(journal, lane, [(5, .unknown)])
        try settle(journal, lane, [(6, .reject(rejection)), (7, .expire)], keeps: false)
        #expect(try journal.fate(of: UID(5)) == .settled(.unknown))
        #expect(try journal.fate(of: UID(6)) == .settled(.rejected(.badDeviceToken)))
        for gone in [0, 7, 8, 10, UInt64.max] { #expect(try journal.fate(of: UID(gone)) == nil) }
        #expect(try journal.trim(TrimBounds(greatestOutcomeBytes: 0)) == Trimmed(outcomes: 1))
        #expect(try journal.fate(of: UID(5)) == nil)
    }

    @Test("Possibly sent, once said of a deferred entry, is said for good: after promotion, deferral and reopening")
    func possiblySent() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<3, to: lane)
        for (uid, flag) in [(1, true), (2, false)] as [(UInt64, Bool)] {
            try journal.settle(
                UID(uid), lane, .deferUntil(settledAt, attempts: 1, reason: .shutdown, possiblySent: flag))
        }
        _ = try journal.promote(lane, now: .max)
        for uid in [1, 2] as [UInt64] {
            try journal.settle(
                UID(uid), lane, .deferUntil(settledAt, attempts: 2, reason: .shutdown, possiblySent: false))
        }
        #expect(try journal.status().possiblySent == 1)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        _ = try journal.promote(lane, now: .max)
        let batch = try journal.unconfirmed(lane, after: .none, through: .max, limit: 9)
        #expect(batch.items.map(\.isPossiblySent) == [true, false, false])
        #expect(try journal.unconfirmed(lane, uids: [UID(1)]).items.map(\.isPossiblySent) == [true])
        #expect(try journal.status().possiblySent == 1)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        #expect(try reader.entries(limit: 9, states: [.possiblySent]).map(\.uid) == [UID(1)])
        #expect(try reader.entries(limit: 9, states: [.neverSent]).map(\.uid) == [UID(2), UID(3)])
        try journal.acknowledge([UID(1)], lane)
        #expect(try journal.status().possiblySent == 0)
    }

    @Test("The wall time at opening is that of the last append or settlement before, not the greatest")
    func wallTime() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var journal = try LMDBJournal(directory: scratch.journal)
        #expect(journal.wallTimeAtOpen == nil)
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<1, to: lane)
        #expect(journal.wallTimeAtOpen == nil)
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        #expect(journal.wallTimeAtOpen == acceptance)
        try journal.settle(SettlementBatch(earliestTime: WallTime(milliseconds: -5)))
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        #expect(journal.wallTimeAtOpen == WallTime(milliseconds: -5))
    }

    @Test("Rejections are trimmed by age exactly, wherever they lie, and by number from the oldest on")
    func trim() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<5000, to: lane, payloadByteCount: 60)
        for part in (1...5000 as ClosedRange<UInt64>).map(\.self).chunks(of: 1000) {
            try settle(
                journal, lane,
                part.map { uid in
                    // Every third is old.
                    let time = WallTime(milliseconds: uid % 3 == 0 ? 99 : 100)
                    return (uid, .reject(RejectionCause(reason: .unregistered, rejectedAt: time)))
                })
        }
        let before = WallTime(milliseconds: 100)
        #expect(try journal.trim(TrimBounds(rejectionsBefore: before)) == Trimmed(rejections: 1666))
        #expect(try journal.trim(TrimBounds(rejectionsBefore: before)) == Trimmed())
        #expect(try journal.rejections(after: .none, limit: .max).allSatisfy { !$0.uid.rawValue.isMultiple(of: 3) })
        #expect(try journal.trim(TrimBounds(greatestRejections: 10)) == Trimmed(rejections: 5000 - 1666 - 10))
        #expect(try journal.rejections(after: .none, limit: .max).map(\.uid.rawValue).first == 4987)
        #expect(try journal.trim(TrimBounds(greatestRejections: 10)) == Trimmed())
        #expect(try journal.trim(TrimBounds(rejectionsBefore: .init(milliseconds: 101))) == Trimmed(rejections: 10))
        #expect(try journal.status().rejections == 0)
    }

    @Test("A long trim lets appends go between its commits")
    func trimYields() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<6000, to: lane, payloadByteCount: 60)
        try settle(journal, lane, (1...6000).map { ($0, .reject(rejection)) }, keeps: false)
        let order = Monitor<[String]>([])
        let done = Box<Bool>()
        journal.trim(TrimBounds(greatestRejections: 0)) { result in
            if case .success(let trimmed) = result, trimmed.rejections == 6000 {
                order.withLock { order in order.append("trim") }
            }
            done.put(true)
        }
        journal.append(submission(0..<1, lane)) { _ in order.withLock { order in order.append("append") } }
        _ = try done.get()
        #expect(order.withLock { $0 } == ["append", "trim"])
    }
}

extension Array {
    func chunks(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
