import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// A disk that fails, or stands still.
@Suite(.timeLimit(.minutes(1))) struct FaultTests {
    @Test("An undetermined commit that held nothing but marks ends the engine, and closes its connections")
    func marksOnly() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.window = 10 }
        bench.answer = { _ in nil }
        try bench.submit(1..<101)
        bench.commits = false
        bench.settle()
        #expect(bench.journal.waitingCount == 1)
        bench.journal.breakNextCommit(leaving: .nothing)
        bench.journal.commit()
        bench.settle()
        guard case .failed(let error)? = bench.core.end(of: 0) else {
            Issue.record("expected the engine to end")
            return
        }
        #expect(error.code == .undetermined)
        #expect(bench.connection.isClosed)
        #expect(bench.sent.isEmpty)
        let next = try Bench(bench.journal.reopened(), clock: bench.clock)
        next.settle()
        #expect(next.sent.count == 10 || next.sent.count == 100)
    }

    @Test("While reads fail nothing goes out and nothing is lost, and the engine does not spin") func reads()
        async throws
    {
        let bench = try Bench()
        let events = bench.listen()
        bench.accepts = false
        try bench.submit(1..<11)
        bench.settle()
        bench.journal.failReads(with: JournalError(.inputOutput, "a bad sector"))
        bench.accepts = true
        bench.settle()
        #expect(bench.status.holding == ["default": .journalUnreadable])
        let before = bench.turnCount
        bench.advance(by: .seconds(10))
        #expect(bench.turnCount - before < 200)
        #expect(bench.sent.isEmpty)
        bench.journal.failReads(with: nil)
        bench.advance(by: .seconds(1))
        #expect(bench.sent == Array(1..<11))
        #expect(await bench.events(events).contains(.holding(route: "default", .journalUnreadable)))
    }

    @Test(
        "A bad token whose entry can't be read for a moment is settled when it can, and the engine goes on",
        arguments: ["Unregistered", "BadDeviceToken"])
    func readsWhileSettling(_ reason: String) throws {
        let bench = try Bench()
        try bench.submit(1..<5)
        bench.settle()
        bench.journal.failReads(with: JournalError(.inputOutput, "a bad sector"))
        bench.connection.answer(1, SendResult(apnsStatus: reason == "Unregistered" ? 410 : 400, reason: reason))
        for number in 2..<4 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        bench.advance(by: .seconds(1))
        #expect(bench.core.end(of: 0) == nil)
        #expect(bench.status.confirmed == 2)
        bench.journal.failReads(with: nil)
        bench.advance(by: .seconds(10))
        #expect(bench.journal.rejections[UID(1)]?.reason == Reason(rawValue: reason))
        #expect(bench.core.producer.blacklist.count == 1)
        #expect(bench.status.inFlight == 1)
    }

    @Test("A blacklist that can't be written holds the settlement, and nothing new is taken until it is")
    func blacklist() throws {
        let bench = try Bench()
        try bench.submit(1..<3)
        bench.settle()
        bench.journal.failBlacklistWrites(with: JournalError(.diskFull, "full"))
        bench.connection.answer(1, SendResult(apnsStatus: 410, reason: "Unregistered"))
        bench.settle()
        bench.advance(by: .seconds(5))
        #expect(bench.journal.rejections.isEmpty)
        guard case .refused(let refusal) = try bench.submit(3..<4)[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .journalFailed)
        bench.journal.failBlacklistWrites(with: nil)
        bench.advance(by: .seconds(1))
        #expect(bench.journal.rejections.count == 1)
        #expect(try bench.submit(3..<4)[0].uid != nil)
    }

    @Test(
        "A stalled disk never makes the engine spin, whatever waits",
        arguments: [
            ConfirmationMode.perNotification, .cumulative(quietPeriod: .seconds(5)), .cumulative(quietPeriod: nil),
        ])
    func stalled(_ mode: ConfirmationMode) throws {
        let bench = try Bench(InMemoryJournal(mode: .manual), modes: [mode]) {
            // Small, so that most of both guarantees waits: eight of each are with the connection at first.
            $0.window = 20
            $0.cumulativeWindow = 20
        }
        try bench.submit(1..<101)
        try bench.submit(101..<201, guarantee: .atMostOnce)
        bench.settle()
        if mode == .perNotification {
            for number in 1..<6 { bench.connection.answer(number, SendResult(apnsStatus: 503)) }
            bench.settle()
        } else {
            bench.connection.fail(at: 5, .refused(SendResult(.deferred(.service))))
            bench.settle()
        }
        bench.commits = false
        if mode == .perNotification {
            bench.connection.answer(6, SendResult(apnsStatus: 410, reason: "Unregistered"))
            bench.connection.answer(7, .confirmed)
            bench.connection.answer(8, .unknown("no answer"))
        } else {
            bench.connection.fail(at: 3, .refused(SendResult(.rejected(.token))))
        }
        let before = bench.turnCount
        bench.advance(by: .seconds(120))
        #expect(bench.turnCount - before < 600)
        #expect(bench.status.inFlight <= 20)
        bench.commits = true
        bench.advance(by: .seconds(60))
        #expect(bench.core.end(of: 0) == nil)
    }

    @Test("A write that fails for a while loses nothing, and what waits is written when it can be") func writes() throws
    {
        let bench = try Bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "full"))
        for number in 1..<11 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        bench.advance(by: .seconds(10))
        #expect(bench.status.inFlight == 10)
        #expect(bench.journal.entries.count == 10)
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(1))
        #expect(bench.journal.entries.isEmpty)
        #expect(bench.status.inFlight == 0)
        #expect(bench.sent.count == 10)
    }

    @Test("A full journal refuses, delivers what it has, and takes again when there is room") func full() throws {
        let bench = try Bench()
        bench.accepts = false
        bench.journal.limitEntries(to: 10)
        try bench.submit(1..<11)
        guard case .refused(let refusal) = try bench.submit(11..<12)[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .journalFull)
        bench.accepts = true
        bench.answer = { _ in .confirmed }
        bench.settle()
        #expect(bench.status.confirmed == 10)
        #expect(try bench.submit(11..<12)[0].uid != nil)
    }

    @Test("A mark that could not be set back is set back when the disk writes again") func markRetreatFails() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.capacity = 10
        try bench.submit(0..<100, guarantee: .atMostOnce)
        bench.settle()
        // Answers make room, the mark rises for the next ones, and then the lane is paused.
        for number in 0..<10 { bench.connection.answer(number, .confirmed) }
        bench.commits = false
        while bench.core.hasNews(route: 0) { bench.turn() }
        bench.journal.commit()
        bench.core.pause(bench.lane(.atMostOnce))
        bench.journal.failWrites(with: JournalError(.diskFull, "full"))
        bench.commits = true
        bench.settle()
        bench.journal.failWrites(with: nil)
        bench.advance(by: .seconds(10))
        let next = try Bench(bench.journal.crashed(mode: .immediate), clock: bench.clock)
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(next.status.unknown == 0)
        #expect(next.status.confirmed == 90)
    }

    @Test("What waits in a paused lane was never sent, over a kill too") func pausedIsNotSent() throws {
        let bench = try Bench()
        try bench.submit(0..<10)
        bench.settle()
        bench.core.pause(bench.lane())
        try bench.submit(10..<100)
        bench.settle()
        #expect(bench.sent == Array(0..<10))
        let next = try bench.crashed()
        next.core.resume(next.lane())
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(next.sent == Array(0..<100))
        #expect(next.status.possibleDuplicates == 10)
        #expect(next.status.confirmed == 100)
    }

    @Test("A paused lane goes on where it was when it is resumed") func pausedGoesOn() throws {
        let bench = try Bench()
        bench.answer = { _ in .confirmed }
        try bench.submit(0..<10)
        bench.settle()
        for round in 1..<4 {
            bench.core.pause(bench.lane())
            try bench.submit((10 * round)..<(10 * round + 10))
            bench.settle()
            #expect(bench.sent == Array(0..<(10 * round)))
            bench.core.resume(bench.lane())
            bench.settle()
        }
        #expect(bench.sent == Array(0..<40))
        #expect(bench.status.possibleDuplicates == 0)
    }
}
