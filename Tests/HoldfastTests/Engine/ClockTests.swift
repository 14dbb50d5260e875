import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// The clock on the wall, when somebody sets it.
@Suite(.timeLimit(.minutes(1))) struct ClockTests {
    private func expiring(_ number: Int, in duration: Duration, _ bench: Bench) -> PushNotification {
        var notification = Sample.notification(number)
        notification.expiration = .at(bench.clock.wall.advanced(by: duration).seconds)
        return notification
    }

    @Test(
        "A clock that is set a year ahead expires nothing, what is still good goes, and nothing is lost when it is mended"
    )
    func yearAhead() async throws {
        let bench = try Bench()
        let events = bench.listen()
        bench.accepts = false
        try bench.submit([expiring(1, in: .seconds(3600), bench), expiring(2, in: .seconds(2 * 365 * 86_400), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(365 * 86_400))
        bench.accepts = true
        bench.settle()
        bench.turn()
        bench.settle()
        #expect(bench.status.expired == 0)
        #expect(bench.sent == [2])
        #expect(await bench.events(events).contains { if case .clockDistrusted = $0 { true } else { false } })
        bench.clock.stepWall(by: .seconds(-365 * 86_400))
        bench.turn()
        bench.advance(by: .seconds(1000))
        #expect(bench.sent == [2, 1])
        #expect(bench.status.expired == 0)
    }

    @Test("A clock that is right after all expires what has expired, after a while") func rightAfterAll() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit([expiring(1, in: .seconds(3600), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(86_400))
        bench.accepts = true
        bench.settle()
        bench.turn()
        bench.advance(by: .seconds(1300))
        #expect(bench.sent.isEmpty)
        #expect(bench.status.expired == 1)
    }

    @Test("A start with a clock that is ahead ends nothing as expired; mended, all of it goes")
    func startsAhead() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.accepts = false
        try bench.submit(1..<61)
        bench.settle()
        bench.clock.stepWall(by: .seconds(2 * 86_400))
        let next = try bench.crashed()
        next.advance(by: .seconds(60))
        #expect(next.status.expired == 0)
        next.clock.stepWall(by: .seconds(-2 * 86_400))
        next.advance(by: .seconds(1300))
        #expect(next.status.expired == 0)
        #expect(next.sent.count == 60)
    }

    @Test("A step of the clock gives nothing up for its age") func age() throws {
        let bench = try Bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.clock.stepWall(by: .seconds(4 * 86_400))
        for number in 1..<11 {
            bench.connection.answer(number, SendResult(apnsStatus: 500, reason: "InternalServerError"))
        }
        bench.settle()
        #expect(bench.status.rejectedTotal == 0)
        #expect(try bench.journal.status().unconfirmed == 10)
    }

    @Test("A step of the clock deletes no rejections, and those that are too old go when it is believed")
    func trim() throws {
        let bench = try Bench()
        try bench.submit(1..<11)
        bench.settle()
        for number in 1..<11 { bench.connection.answer(number, SendResult(apnsStatus: 400, reason: "PayloadEmpty")) }
        bench.settle()
        #expect(bench.journal.rejections.count == 10)
        bench.clock.stepWall(by: .seconds(31 * 86_400))
        bench.advance(by: .seconds(500))
        #expect(bench.journal.rejections.count == 10)
        bench.advance(by: .seconds(400))
        #expect(bench.journal.rejections.count == 0)
    }

    @Test(
        "At intake a clock that is ahead calls no expiration past that may lie ahead, and one that is surely past is refused"
    )
    func intake() throws {
        let bench = try Bench()
        try bench.submit(0..<1)
        let good = expiring(1, in: .seconds(3600), bench)
        let past = expiring(2, in: .seconds(-60), bench)
        bench.clock.stepWall(by: .seconds(7200))
        let receipts = try bench.submit([good, past])
        #expect(receipts[0].uid != nil)
        guard case .refused(let refusal) = receipts[1] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .badExpirationDate)
        bench.advance(by: .seconds(601))
        #expect(try bench.submit([expiring(3, in: .seconds(-3600), bench)])[0].uid == nil)
    }

    @Test("A start before the journal's last time holds expirations too") func startsBefore() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit([expiring(1, in: .seconds(60), bench), Sample.notification(2)])
        bench.settle()
        bench.clock.advance(by: .seconds(3600))
        try bench.submit(3..<4)
        bench.settle()
        // The new process starts half an hour before, when the first has expired already.
        bench.clock.stepWall(by: .seconds(-1800))
        let next = try bench.crashed()
        next.settle()
        #expect(next.status.expired == 0)
        #expect(next.sent == [2, 3])
        next.advance(by: .seconds(1300))
        #expect(next.status.expired == 1)
    }

    @Test(
        "Entries deferred under a clock that was a year ahead are not stranded when it is mended",
        arguments: [1, 2000])
    func stranded(_ window: Int) throws {
        let bench = try Bench()
        bench.clock.stepWall(by: .seconds(365 * 86_400))
        try bench.submit(1..<21)
        bench.settle()
        // Each with a due time of its own.
        for number in 1..<21 { bench.connection.answer(number, SendResult(apnsStatus: 503)) }
        bench.settle()
        bench.clock.stepWall(by: .seconds(-365 * 86_400))
        // A new process, say: nothing is known of the step.
        let next = try bench.crashed { $0.window = window }
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(2000))
        #expect(next.status.confirmed == 20)
    }

    @Test("What a clock that was ahead at one start has put off goes at the next start, under the right one")
    func recalledAtStart() throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit([expiring(1, in: .seconds(3600), bench), expiring(2, in: .seconds(3600), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(4 * 3600))
        let ahead = try bench.crashed()
        ahead.advance(by: .seconds(8))
        #expect(ahead.journal.entries.allSatisfy { $0.deferredUntil != nil })
        #expect(ahead.sent.isEmpty)
        bench.clock.stepWall(by: .seconds(-4 * 3600))
        let right = try ahead.crashed()
        right.answer = { _ in .confirmed }
        right.advance(by: .seconds(5))
        #expect(right.status.confirmed == 2)
    }

    @Test(
        "Entries deferred under a clock that was a year ahead are not stranded in the same process either, under load")
    func strandedUnderLoad() throws {
        let bench = try Bench()
        bench.clock.stepWall(by: .seconds(365 * 86_400))
        try bench.submit(1..<21)
        bench.settle()
        for number in 1..<21 { bench.connection.answer(number, SendResult(apnsStatus: 503)) }
        bench.settle()
        bench.clock.stepWall(by: .seconds(-365 * 86_400))
        bench.turn()
        bench.settle()
        // Others are deferred all the time.
        let tries = Monitor<[Int: Int]>([:])
        bench.connection.state.withLock { state in
            state.answer = { notification in
                let number = Sample.number(of: notification)
                let count = tries.withLock { tries in
                    tries[number, default: 0] += 1
                    return tries[number] ?? 0
                }
                return number > 20 && count == 1 ? SendResult(apnsStatus: 503) : .confirmed
            }
        }
        for step in 0..<40 {
            try bench.submit((100 + step)..<(101 + step))
            bench.advance(by: .seconds(50))
        }
        #expect(bench.journal.entries.count { Sample.number(of: $0.notification) <= 20 } == 0)
    }

    @Test("What waits because the clock is doubted comes back with the mending, however little the clock was ahead")
    func recalled() throws {
        for ahead in [Duration.seconds(400), .seconds(840), .seconds(2 * 86_400)] {
            let bench = try Bench()
            bench.answer = { _ in .confirmed }
            bench.accepts = false
            try bench.submit((1..<61).map { expiring($0, in: .seconds(300), bench) })
            bench.clock.stepWall(by: ahead)
            bench.accepts = true
            bench.advance(by: .seconds(5))
            #expect(bench.sent.isEmpty)
            bench.clock.stepWall(by: .zero - ahead)
            bench.turn()
            bench.settle()
            #expect(bench.status.confirmed == 60)
            #expect(bench.status.expired == 0)
        }
    }

    @Test(
        "What an earlier process has put off goes with the mending too, however little the clock was ahead",
        arguments: [400, 840, 7200, 2 * 86_400])
    func recalledAcrossStarts(_ ahead: Int) throws {
        let bench = try Bench()
        bench.accepts = false
        try bench.submit((1..<61).map { expiring($0, in: .seconds(90), bench) })
        bench.clock.stepWall(by: .seconds(ahead))
        bench.accepts = true
        bench.advance(by: .seconds(3))
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(5))
        #expect(next.sent.isEmpty)
        bench.clock.stepWall(by: .seconds(-ahead))
        next.turn()
        next.settle()
        #expect(next.status.confirmed == 60)
        #expect(next.status.expired == 0)
    }

    @Test("What an earlier process has put off for other reasons goes when the clock is mended, not a quarter later")
    func backoffOfAnotherClock() throws {
        let bench = try Bench()
        bench.answer = { notification in
            SendResult(
                apnsStatus: 429, reason: "TooManyRequests",
                retryAfter: .seconds(Sample.number(of: notification) == 1 ? 10 : 90))
        }
        bench.clock.stepWall(by: .seconds(7200))
        try bench.submit(1..<3)
        bench.settle()
        #expect(bench.journal.entries.count { $0.deferredUntil != nil } == 2)
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(1))
        bench.clock.stepWall(by: .seconds(-7200))
        next.turn()
        next.advance(by: .seconds(200))
        #expect(next.status.confirmed == 2)
    }

    @Test("What has expired by a doubted clock ends when the clock is trusted, and not much later") func endsWithDoubt()
        throws
    {
        let bench = try Bench { $0.window = 10 }
        bench.accepts = false
        try bench.submit((1..<61).map { expiring($0, in: .seconds(300), bench) })
        bench.clock.stepWall(by: .seconds(400))
        bench.accepts = true
        bench.advance(by: .seconds(540))
        #expect(bench.status.expired == 0)
        bench.advance(by: .seconds(65))
        #expect(bench.status.expired == 60)
        #expect(bench.sent.isEmpty)
    }

    @Test("An operator who acts under a clock that is ahead does not make the next start believe it")
    func operatorsSayNothingOfTheTime() async throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.accepts = false
        try bench.submit(1..<61)
        bench.settle()
        bench.clock.stepWall(by: .seconds(2 * 86_400))
        let atRest = bench.journal.crashed(mode: .immediate)
        let clock = bench.clock
        let desk = JournalDesk(
            journal: atRest, clock: EngineClock(wall: { clock.wall }, monotonic: { clock.monotonic }))
        _ = try await desk.withdraw([UID(1)])
        let entry = RestoredEntry(
            lane: bench.lane(), producer: "default", notification: Sample.notification(100),
            acceptedAt: clock.wall, history: EntryHistory(place: .waiting))
        _ = try await desk.restore([entry], note: nil)
        let next = try Bench(atRest.crashed(), clock: clock)
        next.advance(by: .seconds(60))
        #expect(next.status.expired == 0)
    }

    @Test("What ended while the clock was doubted is kept as long as anything else, when the clock was right")
    func endsInDoubt() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) { $0.keepsOutcomes = true }
        bench.accepts = false
        try bench.submit(1..<3)
        bench.settle()
        // Nothing ran for forty days.
        bench.clock.advance(by: .seconds(40 * 86_400))
        let next = try bench.crashed { $0.keepsOutcomes = true }
        next.answer = { _ in SendResult(apnsStatus: 413, reason: "PayloadTooLarge") }
        try next.submit(10..<11)
        next.settle()
        #expect(next.status.rejectedTotal == 1)
        next.advance(by: .seconds(3600))
        #expect(next.journal.rejections.count == 1)
        let outcome = try #require(try next.journal.outcomes(after: .start, limit: 10).outcomes.first)
        #expect(outcome.settledAt >= bench.clock.wall.advanced(by: .seconds(-2 * 86_400)))
    }

    @Test("A journal that an import has made knows the time from it, and a start ahead of that expires nothing")
    func importedIntoNew() async throws {
        let clock = ManualClock()
        let imported = InMemoryJournal()
        let desk = JournalDesk(
            journal: imported, clock: EngineClock(wall: { clock.wall }, monotonic: { clock.monotonic }))
        let entry = RestoredEntry(
            lane: LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce), producer: "default",
            notification: Sample.notification(1), acceptedAt: clock.wall, history: EntryHistory(place: .waiting))
        _ = try await desk.restore([entry], note: nil)
        clock.stepWall(by: .seconds(60 * 86_400))
        let bench = try Bench(imported.crashed(mode: .manual), clock: clock)
        bench.advance(by: .seconds(60))
        #expect(bench.status.expired == 0)
    }

    @Test("A clock that is behind is doubted by the next start too, whatever was written under it")
    func behindStaysDoubted() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.accepts = false
        try bench.submit(1..<2)
        bench.settle()
        bench.clock.stepWall(by: .seconds(-29 * 86_400))
        let second = try bench.crashed()
        second.accepts = false
        second.settle()
        try second.submit([expiring(2, in: .seconds(60), second)])
        second.settle()
        let third = try second.crashed()
        third.accepts = false
        third.settle()
        third.clock.advance(by: .seconds(120))
        third.accepts = true
        third.advance(by: .seconds(60))
        #expect(third.status.expired == 0)
        third.advance(by: .seconds(1300))
        #expect(third.status.expired == 1)
    }

    @Test("A clock that is set back in a journal's first process is doubted by the next start too")
    func behindInTheFirstProcess() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.accepts = false
        try bench.submit([expiring(1, in: .seconds(60), bench)])
        bench.settle()
        bench.clock.stepWall(by: .seconds(-400))
        try bench.submit(2..<3)
        bench.settle()
        let next = try bench.crashed()
        next.accepts = false
        next.settle()
        next.clock.advance(by: .seconds(520))
        next.accepts = true
        next.advance(by: .seconds(30))
        #expect(next.sent == [2])
        #expect(next.status.expired == 0)
        next.advance(by: .seconds(1300))
        #expect(next.status.expired == 1)
    }

    @Test(
        "A clock that is ahead in a journal's first process, set right, and ahead again at the next start expires nothing",
        arguments: [7200, 172_800])
    func aheadAgain(seconds: Int) throws {
        let bench = try Bench(InMemoryJournal(mode: .manual))
        bench.accepts = false
        try bench.submit(1..<2)
        bench.settle()
        bench.clock.stepWall(by: .seconds(-seconds))
        try bench.submit([expiring(2, in: .seconds(3600), bench), Sample.notification(3)])
        bench.settle()
        let next = try bench.crashed()
        next.clock.stepWall(by: .seconds(seconds))
        next.answer = { _ in .confirmed }
        next.advance(by: .seconds(500))
        #expect(next.status.expired == 0)
        next.clock.stepWall(by: .seconds(-seconds))
        next.advance(by: .seconds(30))
        #expect(next.sent.sorted() == [1, 2, 3])
        #expect(next.status.expired == 0)
    }
}
