import Foundation
import Holdfast
import HoldfastJournal
import Testing

/// A journal that is stepped, and what it has said so far.
private struct SteppedStage {
    let scratch = Scratch()
    let heard = Monitor<[String]>([])
    let commitFault = Monitor<StorageFaults.Commit?>(nil)
    let tokenFault = Monitor<StorageFaults.Commit?>(nil)
    let readFault = Monitor<JournalError?>(nil)

    func open() throws -> LMDBJournal {
        var faults = StorageFaults()
        faults.entriesCommit = { [commitFault] in commitFault.withLock { fault in fault } }
        faults.blacklistCommit = { [tokenFault] in tokenFault.withLock { fault in fault } }
        faults.read = { [readFault] in readFault.withLock { fault in fault } }
        var options = LMDBJournal.Options()
        options.durability = .process
        options.stepping = Stepping(identityKey: IdentityKey(first: 1, second: 2), faults: faults)
        let journal = try LMDBJournal(directory: scratch.journal, options: options)
        try journal.observeCommits { [heard] report in
            heard.withLock { heard in heard.append(report.failure == nil ? "report" : "report of a failure") }
        }
        return journal
    }

    /// Leaves an append, whose answer is heard.
    func leave(_ numbers: Range<Int>, _ lane: LaneID, _ producer: ProducerID, in journal: LMDBJournal) {
        journal.append(submission(numbers, lane, producer: producer)) { [heard] result in
            heard.withLock { heard in heard.append(Self.word(result.map { _ in () })) }
        }
    }

    static func word(_ result: Result<Void, JournalError>) -> String {
        switch result {
        case .success: "done"
        case .failure(let error): error.code.name
        }
    }

    /// Steps until nothing waits.
    func settle(_ journal: LMDBJournal) { while journal.step() != nil {} }

    func takeHeard() -> [String] {
        heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
    }
}

@Suite("A journal that is stepped")
struct SteppingTests {
    @Test("A commit is visible, then reported, then completed, and others can look in between")
    func moments() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        _ = stage.takeHeard()

        stage.leave(0..<2, lane, producer, in: journal)
        #expect(try journal.uids(lane) == [])
        #expect(journal.waitingCount == 1)
        #expect(journal.step() == .visible)
        #expect(try journal.uids(lane) == uids(1...2))
        #expect(stage.takeHeard() == [])
        #expect(journal.step() == .reported)
        #expect(stage.takeHeard() == ["report"])
        #expect(journal.step() == .completed)
        #expect(stage.takeHeard() == ["done"])
        #expect(journal.step() == nil)
        #expect(journal.waitingCount == 0)
        journal.close()
    }

    @Test("A step takes as many requests as it is told, and what comes meanwhile waits for the next")
    func atMost() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        for number in 0..<3 { stage.leave(number..<number + 1, lane, producer, in: journal) }
        #expect(journal.step(atMost: 2) == .visible)
        stage.leave(3..<4, lane, producer, in: journal)
        #expect(try journal.uids(lane) == uids(1...2))
        stage.settle(journal)
        #expect(try journal.uids(lane) == uids(1...4))
        journal.close()
    }

    @Test("A crash leaves what was committed, answers nobody, and the same process opens the directory again")
    func crash() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let first = try stage.open()
        let lane = try first.openLane(immediate).id
        let producer = try first.openProducer("default")
        _ = stage.takeHeard()
        stage.leave(0..<2, lane, producer, in: first)
        #expect(first.step() == .visible)
        stage.leave(2..<4, lane, producer, in: first)
        first.crash()
        #expect(stage.takeHeard() == [])

        let second = try stage.open()
        #expect(second.identityKey == first.identityKey)
        #expect(try second.uids(lane) == uids(1...2))
        // Dropped without a word, which is a crash as well.
        func abandon() throws {
            let third = try stage.open()
            stage.leave(4..<5, lane, producer, in: third)
        }
        second.crash()
        try abandon()
        let fourth = try stage.open()
        #expect(try fourth.uids(lane) == uids(1...2))
        fourth.close()
    }

    @Test("Closing in order does what waits and answers it")
    func close() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        _ = stage.takeHeard()
        stage.leave(0..<2, lane, producer, in: journal)
        journal.close()
        #expect(stage.takeHeard() == ["report", "done"])
        stage.leave(2..<3, lane, producer, in: journal)
        #expect(stage.takeHeard() == ["closed"])
    }

    @Test("A commit of unknown fate is there or not after a reopening, as it was told", arguments: [false, true])
    func undetermined(isKept: Bool) throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        _ = stage.takeHeard()
        stage.commitFault.withLock { fault in fault = isKept ? .kept : .lost }
        stage.leave(0..<2, lane, producer, in: journal)
        #expect(journal.step() == .visible)
        #expect(stage.takeHeard() == [])
        stage.settle(journal)
        #expect(stage.takeHeard() == ["report of a failure", "undetermined"])
        stage.leave(2..<3, lane, producer, in: journal)
        stage.settle(journal)
        #expect(stage.takeHeard() == ["must be reopened"])
        #expect(throws: JournalError.self) { try journal.uids(lane) }
        journal.close()

        stage.commitFault.withLock { fault in fault = nil }
        let again = try stage.open()
        #expect(try again.uids(lane) == (isKept ? uids(1...2) : []))
        again.close()
    }

    @Test("On a full disk appends are refused, nothing of them is there, and the journal goes on when there is room")
    func diskFull() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let lane = try journal.openLane(immediate).id
        let producer = try journal.openProducer("default")
        _ = stage.takeHeard()
        stage.commitFault.withLock { fault in fault = .diskFull }
        stage.leave(0..<2, lane, producer, in: journal)
        journal.raiseMark(of: lane, to: UID(9))
        for _ in 0..<6 { journal.step() }
        #expect(stage.takeHeard() == ["disk full"])
        stage.commitFault.withLock { fault in fault = nil }
        stage.leave(0..<2, lane, producer, in: journal)
        stage.settle(journal)
        #expect(stage.takeHeard().last == "done")
        #expect(try journal.uids(lane) == uids(1...2))
        #expect(try journal.status().lanes.first?.mark == UID(2))
        journal.close()
    }

    @Test("Reads fail as they are told, those of the blacklist too")
    func reads() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let lane = try journal.openLane(immediate).id
        stage.readFault.withLock { fault in fault = JournalError(.inputOutput, "the disk is gone") }
        #expect(throws: JournalError.self) { try journal.uids(lane) }
        #expect(throws: JournalError.self) { try journal.blacklist.list(after: nil, limit: 1) }
        stage.readFault.withLock { fault in fault = nil }
        #expect(try journal.uids(lane) == [])
        journal.close()
    }

    @Test("The blacklist is stepped by itself: visible, then completed; and removing steps until it is done")
    func blacklist() throws {
        let stage = SteppedStage()
        defer { stage.scratch.remove() }
        let journal = try stage.open()
        let token = try #require(sample(1).token)
        let entry = BlacklistEntry(
            token: token, reason: .badDeviceToken, since: acceptance, learntAt: acceptance, route: "default")
        let answer: @Sendable (Result<Void, JournalError>) -> Void = { [heard = stage.heard] result in
            heard.withLock { heard in heard.append(SteppedStage.word(result)) }
        }
        _ = stage.takeHeard()
        journal.blacklist.add([entry], completion: answer)
        #expect(journal.blacklist.count == 0)
        #expect(journal.waitingBlacklistCount == 1)
        #expect(journal.step() == nil)
        #expect(journal.stepBlacklist() == .visible)
        #expect(journal.blacklist.count == 1)
        #expect(stage.takeHeard() == [])
        #expect(journal.stepBlacklist() == .completed)
        #expect(stage.takeHeard() == ["done"])
        #expect(journal.stepBlacklist() == nil)
        #expect(try journal.blacklist.remove([.device(token)]) == 1)

        stage.tokenFault.withLock { fault in fault = .kept }
        journal.blacklist.add([entry], completion: answer)
        while journal.stepBlacklist() != nil {}
        #expect(stage.takeHeard() == ["undetermined"])
        stage.tokenFault.withLock { fault in fault = nil }
        journal.crash()
        let again = try stage.open()
        #expect(again.blacklist.count == 1)
        again.close()
    }
}
