import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

/// What users of the in-memory connectors and the manual clock rely on.
@Suite("In-memory connectors and the manual clock", .timeLimit(.minutes(1))) struct ConnectorTests {
    /// Runs an engine while `body` runs.
    private func running(_ engine: PushEngine, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func engine(
        _ journal: InMemoryJournal, _ connector: any Connector, clock: ManualClock = ManualClock()
    ) throws -> PushEngine {
        try PushEngine(
            journal: journal, routes: [Route(connector: connector)], clock: clock.engineClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func sample(_ numbers: ClosedRange<Int>) -> [PushNotification] {
        numbers.map { SampleNotification.numbered($0) }
    }

    private func until(_ condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(20)
        while !condition() {
            if ContinuousClock.now > deadline { return false }
            do { try await Task.sleep(for: .milliseconds(1)) } catch { return false }
        }
        return true
    }

    @Test("Silence confirms when the clock was moved by the quiet period, and not before") func quiet() async throws {
        let clock = ManualClock()
        let journal = InMemoryJournal()
        let connector = InMemoryCumulativeConnector(quietPeriod: .seconds(5))
        let engine = try engine(journal, connector, clock: clock)
        _ = await engine.producer.submit(sample(1...3))
        try await running(engine) {
            #expect(await connector.waitUntil { $0.count == 3 })
            #expect(journal.totals.confirmed == 0)
            // The engine caps what one look at the clock may count for, so time passes in steps.
            let isConfirmed = await until {
                clock.advance(by: .milliseconds(100))
                return journal.totals.confirmed == 3
            }
            #expect(isConfirmed)
            #expect(clock.monotonic >= .seconds(5))
        }
        #expect(connector.taken.map(\.id) == (1...3).map { SampleNotification.id($0) })
    }

    @Test("A refused notification takes those behind it from the connection, and they go again in order")
    func refused() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryCumulativeConnector { notification in
            notification.id == SampleNotification.id(2) ? SendResult(apnsStatus: 400, reason: "PayloadEmpty") : nil
        }
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit(sample(1...4))
        try await running(engine) {
            #expect(await until { connector.taken.count == 3 })
        }
        #expect(connector.taken.map(\.id) == [1, 3, 4].map { SampleNotification.id($0) })
        #expect(journal.rejections.keys.map(\.self) == [UID(2)])
        #expect(connector.connectionCount == 2)
    }

    @Test("What was left unanswered can be answered later") func answerLater() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit(sample(1...2))
        try await running(engine) {
            #expect(await connector.waitUntil { $0.count == 2 })
            #expect(journal.totals.confirmed == 0)
            connector.answerWaiting()
            #expect(await until { journal.totals.confirmed == 2 })
        }
    }

    @Test("A retry waits for the clock, and comes when it is moved") func retry() async throws {
        let clock = ManualClock()
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in SendResult(apnsStatus: 503, reason: "ServiceUnavailable") }
        let engine = try engine(journal, connector, clock: clock)
        _ = await engine.producer.submit(sample(1...1))
        try await running(engine) {
            #expect(await until { journal.entries.first?.deferredUntil != nil })
            connector.answer { _ in .confirmed }
            #expect(connector.sent.count == 1)
            clock.advance(by: .seconds(3600))
            #expect(await until { journal.totals.confirmed == 1 })
        }
        #expect(connector.sent.count == 2)
    }

    @Test("The wall clock can be stepped apart from the time that passes") func steps() {
        let clock = ManualClock(wall: WallTime(seconds: 100))
        clock.advance(by: .seconds(5))
        clock.stepWall(by: .seconds(-60))
        #expect(clock.wall == WallTime(seconds: 45))
        #expect(clock.monotonic == .seconds(5))
        let moves = Monitor(0)
        clock.engineClock.onMove? { moves.withLock { $0 += 1 } }
        clock.advance(by: .seconds(1))
        clock.stepWall(by: .seconds(1))
        #expect(moves.withLock { $0 } == 2)
    }
}
