import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// The whole engine on its threads, with an in-memory journal and connector.
@Suite(.timeLimit(.minutes(1))) struct EngineTests {
    @Test("Accepted notifications are sent in order, confirmed, and gone from the journal") func delivers() async throws
    {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try testEngine(journal, connector)
        let notifications = (0..<5000).map { Sample.notification($0) }
        let receipts = await engine.producer.submit(notifications)
        #expect(receipts.compactMap(\.uid) == (1...5000).map { UID($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.map(\.token) == notifications.map(\.token))
        #expect(journal.unconfirmedUIDs.isEmpty)
        #expect(engine.status().confirmed == 5000)
        #expect(engine.status().possibleDuplicates == 0)
    }

    @Test(
        "A second engine on a journal is refused while the first one lives, and changes nothing; afterwards it delivers"
    )
    func secondEngine() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let first = try testEngine(journal, connector) { $0.keepsOutcomes = true }
        let error = #expect(throws: JournalError.self) { try testEngine(journal, InMemoryConnector()) }
        #expect(error?.code == .inUse)
        #expect(try OutcomeKeeping.isOn(in: journal))
        _ = await first.producer.submit((0..<10).map { Sample.notification($0) })
        #expect(try await runUntilIdle(first) == .drained)
        #expect(connector.sent.count == 10)
        let second = try testEngine(journal, connector)
        _ = await second.producer.submit([Sample.notification(10)])
        #expect(try await runUntilIdle(second) == .drained)
        #expect(connector.sent.map(Sample.number) == Array(0...10))
    }

    @Test("An engine that never ran leaves the journal to the next one when it is gone") func forgottenEngine() throws {
        let journal = InMemoryJournal()
        for _ in 0..<2 { _ = try testEngine(journal, InMemoryConnector()) }
    }

    @Test("A batch larger than a chunk keeps its order and its receipts") func chunks() async throws {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector()) { $0.submissionChunk = 7 }
        var notifications = (0..<100).map { Sample.notification($0) }
        notifications[50].topic = ""
        let receipts = await engine.producer.submit(notifications)
        #expect(receipts.count == 100)
        guard case .refused(let refusal) = receipts[50] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .missingTopic)
        #expect(receipts.compactMap(\.uid) == (1...99).map { UID($0) })
    }

    @Test("An absent expiration becomes acceptance and a day; 0 stays 0") func expirations() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let clock = EngineClock(wall: { WallTime(seconds: 1_800_000_000) }, monotonic: EngineClock.system.monotonic)
        var once = Sample.notification(2)
        once.expiration = .once
        let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)], clock: clock)
        _ = await engine.producer.submit([Sample.notification(1), once])
        _ = try await runUntilIdle(engine)
        #expect(connector.lastSent(to: Sample.notification(1).recipient)?.expiration == .unstated(until: 1_800_086_400))
        #expect(connector.lastSent(to: once.recipient)?.expiration == .once)
    }

    @Test("A 410 blacklists the token before its entry is settled, and the token's other entries are stopped")
    func gone() async throws {
        let journal = InMemoryJournal()
        let since = WallTime(milliseconds: 1_700_000_000_123)
        let connector = InMemoryConnector { _ in SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: since) }
        let engine = try testEngine(journal, connector) { $0.window = 1 }
        let bad = Sample.notification(1)
        _ = await engine.producer.submit([bad, bad, bad])
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.count == 1)
        #expect(journal.rejections[UID(1)]?.timestamp == since)
        #expect(journal.rejections[UID(1)]?.reason == .unregistered)
        #expect(journal.rejections[UID(2)]?.reason == .blacklisted)
        #expect(try engine.blacklist.isBlacklisted(bad.token!)?.since == since)
        // A registration that is newer lifts it.
        #expect(
            try engine.blacklist.isBlacklisted(bad.token!, registeredAt: WallTime(milliseconds: 1_700_000_000_124))
                == nil)
        #expect(try engine.blacklist.isBlacklisted(bad.token!, registeredAt: since) != nil)
    }

    @Test("submit refuses a blacklisted token, and takes it when it was registered since") func submitBlacklisted()
        async throws
    {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector())
        var notification = Sample.notification(1)
        let since = WallTime(seconds: 1_700_000_000)
        try await engine.blacklist.add([
            BlacklistEntry(
                token: notification.token!, reason: .unregistered, since: since, learntAt: since, route: "default")
        ])
        guard case .refused(let refusal) = await engine.producer.submit([notification])[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .blacklisted)
        notification.tokenRegisteredAt = WallTime(seconds: 1_700_000_001)
        #expect(await engine.producer.submit([notification])[0].uid == UID(1))
    }

    @Test("An expired entry is not sent") func expired() async throws {
        let journal = InMemoryJournal()
        let wall = Monitor(WallTime(seconds: 1_800_000_000))
        let clock = EngineClock(wall: { wall.withLock { $0 } }, monotonic: EngineClock.system.monotonic)
        let connector = InMemoryConnector()
        let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)], clock: clock)
        var short = Sample.notification(1)
        short.expiration = .at(1_800_000_010)
        _ = await engine.producer.submit([short, Sample.notification(2)])
        wall.withLock { $0 = WallTime(seconds: 1_800_000_010) }
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.map(\.token) == [Sample.notification(2).token])
        #expect(engine.status().expired == 1)
    }

    @Test("Considerate entries do not hold up an immediate one") func urgency() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try testEngine(journal, connector)
        var slow = (0..<1000).map { Sample.notification($0) }
        for index in slow.indices { slow[index].priority = .considerate }
        _ = await engine.producer.submit(slow)
        _ = await engine.producer.submit([Sample.notification(5000)])
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.first?.token == Sample.notification(5000).token)
        #expect(connector.sent.count == 1001)
    }

    @Test("The same notification submitted a thousand times has a thousand outcomes") func same() async throws {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector())
        let receipts = await engine.producer.submit(Array(repeating: Sample.notification(1), count: 1000))
        #expect(Set(receipts.compactMap(\.uid)).count == 1000)
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(engine.status().confirmed == 1000)
    }

    @Test("One notification to many devices has a UID for each") func manyDevices() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try testEngine(journal, connector)
        let tokens = (0..<10).compactMap { Sample.notification($0).token }
        let receipts = await engine.producer.submit(Sample.notification(1), to: tokens)
        #expect(receipts.compactMap(\.uid).count == 10)
        _ = try await runUntilIdle(engine)
        #expect(connector.sent.map(\.token) == tokens)
        #expect(Set(connector.sent.map(\.id)).count == 10)
    }

    @Test("An engine that nobody holds any more is freed, and its journal with it", arguments: [true, false])
    func freed(_ runs: Bool) async throws {
        weak var journal: InMemoryJournal?
        weak var engine: PushEngine?
        weak var connector: InMemoryConnector?
        func live() async throws {
            let (strongJournal, strongConnector) = (InMemoryJournal(), InMemoryConnector())
            let strongEngine = try testEngine(strongJournal, strongConnector)
            (journal, engine, connector) = (strongJournal, strongEngine, strongConnector)
            _ = await strongEngine.producer.submit([Sample.notification(1)])
            if runs { #expect(try await runUntilIdle(strongEngine) == .drained) }
        }
        try await live()
        // The engine's threads let go a moment after run() has returned.
        let deadline = ContinuousClock.now + .seconds(10)
        while journal != nil || engine != nil || connector != nil, ContinuousClock.now < deadline { await Task.yield() }
        #expect(journal == nil)
        #expect(engine == nil)
        #expect(connector == nil)
    }

    @Test("A topic that no route serves is refused") func routes() async throws {
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(name: "a", connector: InMemoryConnector(), topics: ["com.example.other"])])
        guard case .refused(let refusal) = await engine.producer.submit([Sample.notification(1)])[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .topicDisallowed)
    }
}
