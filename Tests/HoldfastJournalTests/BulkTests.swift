import Foundation
import Holdfast
import Testing

@testable import HoldfastJournal

/// What takes many commits does not hold up what takes one.
@Suite("Bulk work")
struct BulkTests {
    /// A journal of which each test steps the commits, with as many entries as a bulk has.
    private struct Stage {
        static let count = 5500

        let scratch = Scratch()
        let journal: LMDBJournal
        let lane: LaneID
        let producer: ProducerID
        let done = Monitor<[String]>([])

        init() throws {
            var options = LMDBJournal.Options()
            options.durability = .process
            options.stepping = Stepping()
            options.greatestCommit = 10_000
            journal = try LMDBJournal(directory: scratch.journal, options: options)
            lane = try journal.openLane(immediate).id
            producer = try journal.openProducer("default")
            journal.append(submission(0..<Self.count, lane, producer: producer)) { _ in }
            while journal.step() != nil {}
        }

        var keys: [EntryKey] { (1...Self.count).map { EntryKey(lane: lane, uid: UID(UInt64($0))) } }

        func heard<Value>(_ word: String) -> @Sendable (Result<Value, JournalError>) -> Void {
            { [done] result in
                if case .failure(let error) = result { Issue.record("\(word): \(error)") }
                done.withLock { done in done.append(word) }
            }
        }

        func append(_ word: String, count: Int = 1) {
            journal.append(submission(0..<count, lane, producer: producer), completion: heard(word))
        }

        /// One commit, through all of its moments.
        func commit() {
            for moment: CommitMoment in [.visible, .reported, .completed] { #expect(journal.step() == moment) }
        }

        func takeDone() -> [String] {
            done.withLock { done in
                defer { done = [] }
                return done
            }
        }

        func end() {
            journal.close()
            scratch.remove()
        }
    }

    @Test(
        "An append waits for one commit of a bulk settlement, whatever the bulk is of",
        arguments: ["acknowledge", "withdraw", "defer", "promote"])
    func appendGoesBetween(kind: String) throws {
        let stage = try Stage()
        defer { stage.end() }
        let due = WallTime(milliseconds: 5)
        let deferral = SettlementBatch(
            others: stage.keys.map {
                Settlement($0, .deferUntil(due, attempts: 1, reason: .neverProcessed, possiblySent: false))
            })
        switch kind {
        case "acknowledge":
            stage.journal.settle(SettlementBatch(acknowledging: stage.keys), completion: stage.heard("bulk"))
        case "withdraw":
            stage.journal.settle(
                SettlementBatch(others: stage.keys.map { Settlement($0, .withdraw) }), completion: stage.heard("bulk"))
        case "defer": stage.journal.settle(deferral, completion: stage.heard("bulk"))
        default:
            stage.journal.settle(deferral) { _ in }
            while stage.journal.step() != nil {}
            stage.journal.promoteDue(
                stage.lane, after: nil, now: due, limit: Stage.count, completion: stage.heard("bulk"))
        }
        // The first commit of the bulk is under way when they come.
        #expect(stage.journal.step() == .visible)
        stage.append("first")
        stage.append("second")
        #expect(stage.journal.step() == .reported)
        #expect(stage.journal.step() == .completed)
        stage.commit()
        #expect(stage.takeDone() == ["first", "second"])
        var commits = 2
        while stage.takeDone().isEmpty {
            stage.commit()
            commits += 1
        }
        #expect(commits == 6)
        #expect(stage.journal.waitingCount == 0)
    }

    @Test("Appends without end do not hold up a bulk settlement either: each commit goes on with it")
    func bulkGoesOn() throws {
        let stage = try Stage()
        defer { stage.end() }
        stage.journal.settle(SettlementBatch(acknowledging: stage.keys), completion: stage.heard("bulk"))
        for commit in 1...6 {
            // More than one commit holds.
            for number in 0..<10 { stage.append("append", count: 10 + number) }
            stage.commit()
            #expect(stage.journal.depth(stage.lane) > 0)
            #expect(stage.takeDone().contains("bulk") == (commit == 6))
        }
    }

    @Test("What concerns the same entries keeps its place behind a bulk settlement")
    func orderIsKept() throws {
        let stage = try Stage()
        defer { stage.end() }
        stage.journal.raiseMark(of: stage.lane, to: .max)
        stage.commit()
        stage.journal.settle(SettlementBatch(acknowledging: stage.keys), completion: stage.heard("bulk"))
        stage.journal.lowerMark(of: stage.lane, to: .none, completion: stage.heard("mark"))
        stage.journal.settle(
            SettlementBatch(others: [Settlement(stage.keys[5000], .unknown)]), completion: stage.heard("late"))
        stage.append("append")
        var done: [String] = []
        while stage.journal.step() != nil { done += stage.takeDone() }
        #expect(done == ["append", "bulk", "mark", "late"])
        #expect(try stage.journal.status().totals.confirmed == UInt64(Stage.count))
    }

    @Test("A settlement in no order takes effect for each of its entries once, in commits of a bounded sort")
    func unsorted() throws {
        let stage = try Stage()
        defer { stage.end() }
        var keys = stage.keys
        keys.shuffle()
        let report = Monitor<SettlementReport?>(nil)
        stage.journal.settle(SettlementBatch(acknowledging: keys + keys)) { result in
            report.withLock { report in report = try? result.get() }
        }
        while stage.journal.step() != nil {}
        #expect(report.withLock { $0 } == SettlementReport(settled: Stage.count, gone: Stage.count))
    }

    @Test("A commit ends when its time is over, and the rest has the next ones")
    func timeBound() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.durability = .process
        options.greatestCommitTime = .zero
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        try journal.append(0..<300, to: lane)
        let sizes = Monitor<[Int]>([])
        try journal.observeCommits { report in
            sizes.withLock { sizes in sizes.append(report.measure?.settlements ?? 0) }
        }
        #expect(try journal.acknowledge(uids(1...200), lane).settled == 200)
        let others = uids(201...300).map { Settlement(EntryKey(lane: lane, uid: $0), .withdraw) }
        #expect(try journal.settle(SettlementBatch(others: others)).withdrawn == 100)
        #expect(sizes.withLock { $0 } == [64, 64, 64, 8, 64, 36])
    }

    @Test("What waits behind a settlement that runs out of time is done once, and an append does not wait for its end")
    func behindTheTimeBound() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.durability = .process
        options.greatestCommitTime = .zero
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        try journal.append(0..<300, to: lane)
        let deferral = Settlement(
            EntryKey(lane: lane, uid: UID(300)),
            .deferUntil(WallTime(milliseconds: 5), attempts: 1, reason: .neverProcessed, possiblySent: false))
        _ = try journal.settle(SettlementBatch(others: [deferral]))

        // Holds the writer in its next commit until all of them wait.
        let gate = Monitor((isHeld: false, mayGo: false))
        try journal.observeCommits { _ in
            gate.withLock { gate in gate.isHeld = true }
            gate.broadcast()
            _ = gate.wait(atMost: .seconds(30)) { gate in gate.mayGo ? true : nil }
        }
        let done = Monitor<[String]>([])
        @Sendable func heard(_ words: String) {
            done.withLock { done in done.append(words) }
            done.broadcast()
        }
        journal.raiseMark(of: lane, to: UID(10))
        #expect(gate.wait(atMost: .seconds(30)) { gate in gate.isHeld ? true : nil } == true)
        let bulk = uids(1...200).map { EntryKey(lane: lane, uid: $0) }
        let others = uids(201...220).map { EntryKey(lane: lane, uid: $0) }
        journal.settle(SettlementBatch(acknowledging: bulk)) { result in
            heard("bulk \((try? result.get()).map { "\($0.settled) \($0.gone)" } ?? "failed")")
        }
        journal.promoteDue(lane, after: nil, now: WallTime(milliseconds: 5), limit: 1) { result in
            heard("promoted \((try? result.get())?.count ?? -1)")
        }
        var batch = SettlementBatch(acknowledging: others)
        batch.possibleDuplicates = 3
        journal.settle(batch) { result in
            heard("others \((try? result.get()).map { "\($0.settled) \($0.gone)" } ?? "failed")")
        }
        journal.append(submission(300..<305, lane, producer: producer)) { _ in
            heard("append")
        }
        gate.withLock { gate in gate.mayGo = true }
        gate.broadcast()
        let all = done.wait(atMost: .seconds(30)) { done in done.count == 4 ? done : nil }
        #expect(all == ["append", "bulk 200 0", "promoted 1", "others 20 0"])
        let totals = try journal.status().totals
        #expect(totals.accepted == 305)
        #expect(totals.confirmed == 220)
        #expect(totals.possibleDuplicates == 3)
        #expect(journal.depth(lane) == 85)
    }
}
