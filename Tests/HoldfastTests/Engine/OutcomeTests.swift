import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct OutcomeTests {
    private func bench(_ limit: Int = 1000, routes: Int = 1) throws -> Bench {
        try Bench(modes: (0..<routes).map { _ in .perNotification }) {
            $0.keepsOutcomes = true
            $0.outcomeLimit = limit
        }
    }

    /// What the engine's connections answer to everything.
    private func takeAll(_ bench: Bench) async throws -> [Outcome] {
        var taken: [Outcome] = []
        while bench.journal.unreadOutcomeCount > 0 {
            guard let batch = try await bench.core.nextOutcomes() else { break }
            taken += batch.outcomes
            try await batch.taken()
        }
        bench.settle()
        return taken
    }

    @Test("Each outcome is kept until it is taken, over a kill, with tag, id, token and Producer") func kept()
        async throws
    {
        let bench = try bench()
        var notification = Sample.notification(1)
        notification.tag = [1, 2, 3]
        try bench.submit(
            [notification, Sample.notification(2), Sample.notification(3, guarantee: .atMostOnce)], as: "a")
        bench.settle()
        bench.connection.answer(1, .confirmed)
        bench.connection.answer(2, SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 5)))
        bench.connection.answer(3, .unknown("no answer"))
        bench.settle()
        let next = try bench.crashed { $0.keepsOutcomes = true }
        // Asked for and not taken, it comes again.
        let first = try await next.core.nextOutcomes()
        #expect(first?.outcomes.map(\.uid).sorted() == [UID(1), UID(2), UID(3)])
        let outcomes = try await takeAll(next).sorted { $0.uid < $1.uid }
        #expect(outcomes.map(\.uid) == [UID(1), UID(2), UID(3)])
        #expect(outcomes.map(\.terminal) == [.confirmed, .rejected(.unregistered), .unknown])
        #expect(outcomes.allSatisfy { $0.producer == "a" })
        #expect(outcomes[0].tag == [1, 2, 3])
        let sent = bench.connection.sent.first { Sample.number(of: $0.notification) == 1 }
        #expect(outcomes[0].id == sent?.notification.id)
        #expect(outcomes[1].cause?.timestamp == WallTime(seconds: 5))
        #expect(outcomes[1].token == Sample.notification(2).token)
        #expect(next.journal.unreadOutcomeCount == 0)
        #expect(try next.crashed().journal.unreadOutcomeCount == 0)
    }

    @Test("Of every end the times are in order, also of one that was judged long after its answer") func times() throws
    {
        let bench = try bench()
        bench.answer = { notification in
            switch Sample.number(of: notification) {
            case 1: SendResult(apnsStatus: 400, reason: "BadDeviceToken")
            case 2: SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 5))
            default: .confirmed
            }
        }
        try bench.submit(1..<101)
        bench.advance(by: .seconds(60))
        let outcomes = try bench.journal.outcomes(after: .start, limit: 200).outcomes
        #expect(outcomes.count == 100)
        #expect(outcomes.contains { $0.terminal == .rejected(.badDeviceToken) })
        for outcome in outcomes {
            let sentAt = try #require(outcome.history.sentAt)
            #expect(outcome.history.acceptedAt <= sentAt && sentAt <= outcome.settledAt, "\(outcome.terminal)")
            #expect(outcome.history.attempts == 1)
        }
    }

    @Test("At the limit hand-out holds, nothing is lost, and it goes on when outcomes are taken") func limit()
        async throws
    {
        let bench = try bench(10)
        bench.answer = { _ in .confirmed }
        let events = bench.listen()
        try bench.submit(1..<101)
        bench.settle()
        #expect(bench.sent.count == 10)
        #expect(bench.journal.unreadOutcomeCount == 10)
        #expect(bench.status.holding == ["default": .outcomesFull])
        bench.advance(by: .seconds(30))
        #expect(bench.sent.count == 10)
        var taken: Set<UID> = []
        for _ in 0..<20 { taken.formUnion(try await takeAll(bench).map(\.uid)) }
        #expect(taken.count == 100)
        #expect(bench.sent == Array(1..<101))
        #expect(bench.status.holding.isEmpty)
        #expect(await bench.events(events).contains(.holding(route: "default", .outcomesFull)))
    }

    @Test("Entries in flight count as the outcomes that they may bring") func inFlightCounts() throws {
        let bench = try bench(10)
        try bench.submit(1..<101)
        bench.settle()
        #expect(bench.sent.count == 10)
    }

    @Test("While outcomes are full, deferred entries that fall due do not make the engine spin") func fullAndDue()
        throws
    {
        let bench = try bench(10)
        try bench.submit(1..<101)
        bench.settle()
        for number in 1..<5 { bench.connection.answer(number, SendResult(.deferred(.service))) }
        for number in 5..<11 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        for number in 11..<15 { bench.connection.answer(number, .confirmed) }
        bench.settle()
        #expect(bench.status.holding == ["default": .outcomesFull])
        let before = bench.turnCount
        bench.advance(by: .seconds(600))
        #expect(bench.turnCount - before < 100)
        #expect(bench.sent.count == 14)
    }

    @Test("While what has all the room is on its way back, entries without room do not make the engine spin")
    func keptAndDue() throws {
        let bench = try Bench(InMemoryJournal(mode: .manual)) {
            $0.window = 10
            $0.keepsOutcomes = true
            $0.outcomeLimit = 4
        }
        var considerate = Sample.notification(4, guarantee: .atMostOnce)
        considerate.priority = .considerate
        try bench.submit(1..<4, guarantee: .atMostOnce)
        try bench.submit([considerate])
        bench.settle()
        #expect(bench.sent.count == 4)
        bench.commits = false
        for number in 1..<5 { bench.connection.answer(number, SendResult(.neverProcessed(.none), detail: "not now")) }
        bench.turn()
        bench.journal.commit()
        // The bench looks whether the engine wants to be stepped again at once.
        bench.turn()
        #expect(bench.consumer.lanes.keptPlaces() == 4)
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.commits = true
        bench.advance(by: .seconds(1))
        #expect(bench.status.confirmed == 4)
    }

    @Test("Two routes together never exceed the limit, and room that one gives back is used by the other")
    func twoRoutes() throws {
        let bench = try bench(10, routes: 2)
        func other(_ number: Int) -> PushNotification {
            var notification = Sample.notification(number)
            notification.topic = "com.example.route1"
            return notification
        }
        try bench.submit(1..<21)
        bench.settle()
        try bench.submit((21..<41).map { other($0) })
        bench.settle()
        #expect(bench.connections[0][0].sent.count == 10)
        #expect(bench.connections[1][0].sent.isEmpty)
        // The first route is paused and its connection ends: no commit follows from that.
        bench.core.pause(bench.lane())
        bench.settle()
        bench.connection.end(possiblySent: [])
        bench.settle()
        #expect(bench.connections[1][0].sent.count == 10)
        #expect(bench.status.inFlight == 10)
    }

    @Test("At most once, entries that wait for room for their outcomes are not possibly sent") func atMostOnce() throws
    {
        let bench = try bench(10)
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<101, guarantee: .atMostOnce)
        bench.settle()
        let next = try bench.crashed()
        next.answer = { _ in .confirmed }
        next.settle()
        #expect(next.status.confirmed == 90)
        #expect(next.status.unknown == 0)
    }

    @Test("Without being kept there are no outcomes, and no limit") func notKept() throws {
        let bench = try Bench { $0.outcomeLimit = 1 }
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<11)
        bench.settle()
        #expect(bench.status.confirmed == 10)
        #expect(bench.journal.unreadOutcomeCount == 0)
    }

    @Test("What is due in a second lane waits, without spinning, while what comes back in the first has all the room")
    func noRoomBesideThePromoted() async throws {
        let imported = InMemoryJournal()
        let considerate = LaneKey(route: "default", urgency: .considerate, guarantee: .atMostOnce)
        let immediate = LaneKey(route: "default", urgency: .immediate, guarantee: .atMostOnce)
        let entries = (1..<7).map { number in
            RestoredEntry(
                lane: number < 4 ? immediate : considerate, producer: "default",
                notification: Sample.notification(number, guarantee: .atMostOnce), acceptedAt: ManualClock().wall,
                history: EntryHistory(place: .deferred(until: ManualClock().wall)))
        }
        _ = try await JournalDesk(journal: imported).restore(entries, note: nil)
        let bench = try Bench(imported.crashed(mode: .manual)) {
            $0.keepsOutcomes = true
            $0.outcomeLimit = 3
        }
        bench.answer = { _ in .confirmed }
        bench.commits = false
        // The bench says of each turn whether it asks for the next one at once.
        bench.settle()
        bench.advance(by: .seconds(5))
        bench.commits = true
        bench.settle()
        #expect(bench.sent == [1, 2, 3])
        bench.journal.setReader(OutcomeReader.engineName, to: OutcomeCursor(3)) { _ in }
        bench.settle()
        bench.advance(by: .seconds(5))
        #expect(bench.sent == Array(1..<7))
    }
}
