import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// An orderly end, in whatever state it finds the engine.
@Suite(.timeLimit(.minutes(1))) struct ShutdownTests {
    enum Situation: CaseIterable {
        case idle, connecting, refused, connected, silent, parked, stopped, promoting, holding, stalledDisk
    }

    @Test(
        "A graceful shutdown ends within its limit and a second, takes nothing new, and loses nothing",
        arguments: Situation.allCases)
    func ends(_ situation: Situation) throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.shutdownLimit = .seconds(5) }
        if situation != .idle { try bench.submit(1..<11) }
        bench.accepts = situation != .connecting && situation != .refused
        if situation == .silent { bench.prepare = { $0.state.withLock { $0.endsWhenClosed = false } } }
        bench.settle()
        switch situation {
        case .idle, .connecting, .connected, .silent: break
        case .refused: bench.refuseConnection()
        case .parked: bench.connection.answer(1, SendResult(apnsStatus: 429, reason: "TooManyProviderTokenUpdates"))
        case .stopped: bench.connection.answer(1, SendResult(apnsStatus: 403, reason: "Forbidden"))
        case .promoting:
            bench.connection.answer(1, SendResult(apnsStatus: 503))
            bench.settle()
            bench.commits = false
            bench.advance(by: .seconds(2))
        case .holding: bench.journal.failReads(with: JournalError(.inputOutput, "a bad sector"))
        case .stalledDisk:
            bench.commits = false
            for number in 1..<11 { bench.connection.answer(number, .confirmed) }
        }
        bench.settle()
        bench.core.shutDown()
        let before = bench.turnCount
        bench.advance(by: .milliseconds(6001))
        guard case .shutDown? = bench.core.end(of: 0) else {
            Issue.record("\(situation): expected the end")
            return
        }
        #expect(bench.turnCount - before < 50)
        guard case .refused(let refusal) = try bench.submit(50..<51)[0] else {
            Issue.record("\(situation): expected a refusal")
            return
        }
        #expect(refusal.reason == .shuttingDown)
        bench.journal.failReads(with: nil)
        bench.journal.commit()
        let next = try Bench(bench.journal.crashed(mode: .immediate), clock: bench.clock)
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(3))
        #expect(next.journal.entries.isEmpty)
        #expect(bench.status.confirmed + next.status.confirmed == (situation == .idle ? 0 : 10))
    }

    @Test("Interrupted work is not failed work: no attempt is counted, nothing is rejected, and order is kept")
    func interrupted() throws {
        let bench = try Bench()
        bench.capacity = 8
        try bench.submit(1..<21)
        bench.settle()
        bench.core.shutDown()
        bench.advance(by: .seconds(1))
        #expect(bench.journal.entries.allSatisfy { $0.attempts == 0 })
        #expect(bench.journal.rejections.isEmpty)
        let next = try bench.crashed()
        next.settle()
        #expect(next.sent == Array(1..<21))
        #expect(next.status.possibleDuplicates == 8)
    }

    @Test("A connection that comes about during the shutdown is closed") func lateConnection() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit(1..<2)
        bench.settle()
        bench.core.shutDown()
        bench.connect()
        bench.settle()
        #expect(bench.connection.isClosed)
        #expect(bench.sent.isEmpty)
        #expect(bench.core.end(of: 0) != nil)
    }

    @Test("Killed while connections take their time over the end, only what has left may be unknown") func killed()
        throws
    {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.capacity = 5
        bench.prepare = { connection in connection.state.withLock { $0.endsWhenClosed = false } }
        try bench.submit((1..<21).map { Sample.notification($0, guarantee: .atMostOnce) })
        bench.settle()
        #expect(bench.sent == Array(1..<6))
        // The next three are to go out as soon as the mark is written, and the end comes first.
        bench.commits = false
        for number in 1..<4 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        bench.core.shutDown()
        bench.commits = true
        bench.settle()
        #expect(bench.sent == Array(1..<6))
        #expect(!bench.connection.hasEnded)
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(next.sent == Array(6..<21))
        #expect(next.status.unknown == 2)
    }

    @Test("What is taken back while the marks step back lets them step back further") func withdrawnMeanwhile() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.capacity = 5
        try bench.submit(1..<11)
        bench.settle()
        #expect(bench.sent == Array(1..<6))
        bench.accepts = false
        bench.connection.end(possiblySent: [5])
        bench.settle()
        let mark = try #require(bench.journal.marks[bench.lane()])
        bench.commits = false
        bench.core.shutDown()
        bench.settle()
        // The step back to what may have been sent is on its way; what may have been sent is taken back behind it.
        bench.core.withdraw([UID(5)], from: bench.lane()) { _ in }
        bench.settle()
        bench.commits = true
        bench.settle()
        #expect(bench.core.end(of: 0) != nil)
        #expect(bench.journal.entries.map(\.uid.rawValue) == [1, 2, 3, 4, 6, 7, 8, 9, 10])
        #expect(mark >= UID(5))
        #expect(bench.journal.marks[bench.lane()] == UID.none)
    }

    @Test("A wake is never in the past, also at the very moment of the limit") func limitZero() throws {
        let bench = try Bench { $0.shutdownLimit = .zero }
        bench.prepare = { $0.state.withLock { $0.endsWhenClosed = false } }
        try bench.submit(1..<2)
        bench.settle()
        bench.core.shutDown()
        bench.settle()
        bench.advance(by: .seconds(2))
        #expect(bench.core.end(of: 0) != nil)
    }
}
