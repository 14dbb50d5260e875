import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// The whole engine on an in-memory journal and connector.
@Suite(.timeLimit(.minutes(1))) struct EngineTests {
    private func engine(
        _ journal: InMemoryJournal, _ connector: any Connector, change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> PushEngine {
        var configuration = EngineConfiguration()
        configuration.retry = RetrySchedule(minimum: .milliseconds(2), maximum: .milliseconds(4), greatestCount: 5)
        configuration.reconnectMinimum = .milliseconds(2)
        configuration.reconnectMaximum = .milliseconds(4)
        configuration.shutdownLimit = .seconds(2)
        change(&configuration)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration, logger: logger)
    }

    /// Runs the engine until it has nothing to do.
    private func runUntilIdle(_ engine: PushEngine) async throws -> EngineRest {
        try await withThrowingTaskGroup(of: EngineRest?.self) { group in
            group.addTask {
                try await engine.run()
                return nil
            }
            let rest = await engine.untilIdle()
            group.cancelAll()
            while try await group.next() != nil {}
            return rest
        }
    }

    @Test("Accepted notifications are sent in order, confirmed, and gone from the journal") func delivers() async throws
    {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try engine(journal, connector)
        let notifications = (0..<5000).map { Sample.notification($0) }
        let receipts = await engine.producer.submit(notifications)
        #expect(receipts.compactMap(\.uid) == (1...5000).map { UID($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.map(\.token) == notifications.map(\.token))
        #expect(journal.unconfirmedUIDs.isEmpty)
        #expect(engine.status().confirmed == 5000)
        #expect(engine.status().possibleDuplicates == 0)
    }

    @Test("A batch larger than a chunk keeps its order and its receipts") func chunks() async throws {
        let journal = InMemoryJournal()
        let engine = try engine(journal, InMemoryConnector()) { $0.submissionChunk = 7 }
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
        #expect(connector.lastSent(to: Sample.notification(1).token)?.expiration == .at(1_800_086_400))
        #expect(connector.lastSent(to: once.token)?.expiration == .once)
    }

    @Test("What a crash left goes again with the same apns-id, and is counted as possible duplicates") func crash()
        async throws
    {
        let journal = InMemoryJournal()
        let silent = InMemoryConnector { _ in nil }
        let first = try engine(journal, silent) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<10).map { Sample.notification($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await silent.waitUntil { $0.count == 10 })
            let reopened = journal.crashed()
            let connector = InMemoryConnector()
            let second = try engine(reopened, connector)
            _ = await second.producer.submit([Sample.notification(10)])
            #expect(try await runUntilIdle(second) == .drained)
            #expect(connector.sent.prefix(10).map(\.id) == silent.sent.map(\.id))
            #expect(second.status().possibleDuplicates == 10)
            #expect(try reopened.status().totals.possibleDuplicates == 10)
            #expect(connector.sent.count == 11)
            group.cancelAll()
        }
    }

    @Test("At most once, what may have been sent before a crash is not sent again") func atMostOnce() async throws {
        let journal = InMemoryJournal()
        let silent = InMemoryConnector { _ in nil }
        let first = try engine(journal, silent) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<10).map { Sample.notification($0, guarantee: .atMostOnce) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await silent.waitUntil { $0.count == 10 })
            let connector = InMemoryConnector()
            let reopened = journal.crashed()
            let second = try engine(reopened, connector)
            _ = await second.producer.submit([Sample.notification(10, guarantee: .atMostOnce)])
            #expect(try await runUntilIdle(second) == .drained)
            #expect(connector.sent.map(\.token) == [Sample.notification(10).token])
            #expect(try reopened.status().totals.unknown == 10)
            group.cancelAll()
        }
    }

    @Test(
        "Bad credentials stop the lanes, burn nothing, and after a crash everything is delivered, none unknown",
        arguments: Guarantee.allCases)
    func stoppedLane(_ guarantee: Guarantee) async throws {
        let journal = InMemoryJournal()
        let refusing = InMemoryConnector(capacity: 10) { _ in
            SendResult(apnsStatus: 403, reason: "InvalidProviderToken")
        }
        let first = try engine(journal, refusing)
        _ = await first.producer.submit((0..<100).map { Sample.notification($0, guarantee: guarantee) })
        guard case .stopped(let why) = try await runUntilIdle(first) else {
            Issue.record("expected a stop")
            return
        }
        #expect(why.contains("InvalidProviderToken"))
        #expect(try journal.status().unconfirmed == 100)
        #expect(refusing.sent.count <= 20)
        let good = InMemoryConnector()
        let reopened = journal.crashed()
        let second = try engine(reopened, good)
        #expect(try await runUntilIdle(second) == .drained)
        #expect(good.sent.count == 100)
        #expect(try reopened.status().totals.unknown == 0)
        #expect(try reopened.status().totals.confirmed == 100)
    }

    @Test("A stopped lane resumes where it was when it is told to") func resume() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in SendResult(apnsStatus: 403, reason: "Forbidden") }
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit([Sample.notification(1)])
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            guard case .stopped = await engine.untilIdle() else {
                Issue.record("expected a stop")
                return
            }
            connector.answer { _ in .confirmed }
            for lane in engine.status().lanes { engine.resume(lane.key) }
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
        }
    }

    @Test("A 410 blacklists the token before its entry is settled, and the token's other entries are stopped")
    func gone() async throws {
        let journal = InMemoryJournal()
        let since = WallTime(milliseconds: 1_700_000_000_123)
        let connector = InMemoryConnector { _ in SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: since) }
        let engine = try engine(journal, connector) { $0.window = 1 }
        let bad = Sample.notification(1)
        _ = await engine.producer.submit([bad, bad, bad])
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.count == 1)
        #expect(journal.rejections[UID(1)]?.timestamp == since)
        #expect(journal.rejections[UID(1)]?.reason == .unregistered)
        #expect(journal.rejections[UID(2)]?.reason == .blacklisted)
        #expect(try engine.blacklist.isBlacklisted(bad.token)?.since == since)
        // A registration that is newer lifts it.
        #expect(
            try engine.blacklist.isBlacklisted(bad.token, registeredAt: WallTime(milliseconds: 1_700_000_000_124))
                == nil)
        #expect(try engine.blacklist.isBlacklisted(bad.token, registeredAt: since) != nil)
    }

    @Test("submit refuses a blacklisted token, and takes it when it was registered since") func submitBlacklisted()
        async throws
    {
        let journal = InMemoryJournal()
        let engine = try engine(journal, InMemoryConnector())
        var notification = Sample.notification(1)
        let since = WallTime(seconds: 1_700_000_000)
        try await engine.blacklist.add([
            BlacklistEntry(
                token: notification.token, reason: .unregistered, since: since, learntAt: since, route: "default")
        ])
        guard case .refused(let refusal) = await engine.producer.submit([notification])[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .blacklisted)
        notification.tokenRegisteredAt = WallTime(seconds: 1_700_000_001)
        #expect(await engine.producer.submit([notification])[0].uid == UID(1))
    }

    @Test("While nobody listens, entries that are due do not keep the engine busy") func noBusyLoop() throws {
        let journal = InMemoryJournal()
        let requested = Monitor(0)
        let core = try EngineCore(
            journal: journal, routes: [Route(connector: InMemoryConnector())], configuration: EngineConfiguration(),
            clock: .system, logger: Logger(label: "test"), seed: 1,
            requestConnection: { _, _ in requested.withLock { $0 += 1 } })
        core.producer.submit([Sample.notification(1)]) { _ in }
        let key = EntryKey(lane: core.consumers[0].lanes[0].id, uid: UID(1))
        let deferral = Settlement(
            key,
            .deferUntil(WallTime(milliseconds: 0), attempts: 1, reason: .serviceUnavailable, possiblySent: false))
        journal.settle(SettlementBatch(others: [deferral])) { _ in }
        core.start(route: 0)
        // Due at once: a connection is asked for, and until there is one nothing can be done.
        _ = core.turn(route: 0)
        #expect(requested.withLock { $0 } == 1)
        let housekeeping = core.consumers[0].housekeeping.next
        #expect(core.turn(route: 0) == housekeeping)
        core.connected(route: 0, connection: 1, .failure(ConnectError(.temporary, "refused")))
        let wake = core.turn(route: 0)
        guard case .waiting(let until) = core.consumers[0].phase else {
            Issue.record("expected to wait")
            return
        }
        #expect(wake == until)
    }

    @Test("A service that is busy defers with its attempts in the journal, until the entry goes") func deferral()
        async throws
    {
        let journal = InMemoryJournal()
        let tries = Monitor(0)
        let connector = InMemoryConnector { _ in
            tries.withLock { tries in
                tries += 1
                return tries < 4 ? SendResult(apnsStatus: 503, reason: "ServiceUnavailable") : .confirmed
            }
        }
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit([Sample.notification(1)])
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.count == 4)
        #expect(Set(connector.sent.map(\.id)).count == 1)
        #expect(engine.status().deferrals == 3)
        #expect(engine.status().possibleDuplicates == 0)
    }

    @Test(
        "Deferred entries that a restart finds go once each, in whatever order they come back", arguments: [1, 7, 50])
    func deferredAtRestart(_ window: Int) async throws {
        let journal = InMemoryJournal()
        let busy = InMemoryConnector { notification in
            notification.payload.count.isMultiple(of: 2)
                ? SendResult(apnsStatus: 503, reason: "ServiceUnavailable") : nil
        }
        let first = try engine(journal, busy) {
            $0.shutdownLimit = .zero
            $0.retry = RetrySchedule(minimum: .milliseconds(100), maximum: .milliseconds(100))
        }
        let notifications = (0..<200).map { number in
            var notification = Sample.notification(number)
            notification.payload = Array("{\"n\":\"\(String(repeating: "x", count: number % 2))\"}".utf8)
            return notification
        }
        _ = await first.producer.submit(notifications)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            while try journal.status().deferred < 100 {
                try Task.checkCancellation()
                await Task.yield()
            }
            let reopened = journal.crashed()
            group.cancelAll()
            let connector = InMemoryConnector()
            let second = try engine(reopened, connector) { $0.window = window }
            #expect(try await runUntilIdle(second) == .drained)
            #expect(connector.sent.count == 200)
            #expect(Set(connector.sent.map(\.token)).count == 200)
            #expect(second.status().confirmed == 200)
        }
    }

    @Test("An entry that is deferred too often becomes a rejection") func tooManyAttempts() async throws {
        let journal = InMemoryJournal()
        let engine = try engine(journal, InMemoryConnector { _ in SendResult(apnsStatus: 500) })
        _ = await engine.producer.submit([Sample.notification(1)])
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(journal.rejections[UID(1)]?.reason == .tooManyAttempts)
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

    @Test("A connection that ends without answers sends again what is at least once, in order, and nothing else")
    func connectionEnds() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit(
            (0..<20).map { Sample.notification($0, guarantee: $0.isMultiple(of: 2) ? .atLeastOnce : .atMostOnce) })
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await connector.waitUntil { $0.count == 20 })
            connector.answer { _ in .confirmed }
            connector.endConnection(possiblySent: true)
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
        }
        let again = connector.sent.dropFirst(20)
        #expect(again.map(\.token) == stride(from: 0, to: 20, by: 2).map { Sample.notification($0).token })
        #expect(engine.status().unknown == 10)
        #expect(engine.status().possibleDuplicates == 10)
    }

    @Test("What a connection provably never sent goes again freely, at most once or not") func neverSent() async throws
    {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit((0..<10).map { Sample.notification($0, guarantee: .atMostOnce) })
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await connector.waitUntil { $0.count == 10 })
            connector.answer { _ in .confirmed }
            connector.endConnection(possiblySent: false)
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
        }
        #expect(engine.status().confirmed == 10)
        #expect(engine.status().unknown == 0)
        #expect(engine.status().possibleDuplicates == 0)
    }

    @Test("The window is freed by the durable settlement, not by the answer") func windowHolds() async throws {
        let journal = InMemoryJournal(mode: .manual)
        let connector = InMemoryConnector()
        let engine = try engine(journal, connector) {
            $0.window = 50
            $0.shutdownLimit = .zero
        }
        let receipts = Monitor<[Receipt]>([])
        engine.producer.submit((0..<1000).map { Sample.notification($0) }) { done in receipts.withLock { $0 = done } }
        journal.commit()
        #expect(receipts.withLock { $0.count } == 1000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            // The mark must be on disk before anything goes out, so commit until the first hand-out; then stall the disk.
            while connector.sent.isEmpty {
                journal.commit()
                await Task.yield()
            }
            for _ in 0..<2000 { await Task.yield() }
            let settled = try Int(journal.status().totals.confirmed)
            #expect(connector.sent.count - settled <= 50)
            #expect(connector.sent.count < 1000)
            // A crash now sends again at most the window.
            let second = InMemoryConnector()
            let recovered = journal.crashed()
            let pump = Monitor(true)
            group.addTask {
                while pump.withLock({ $0 }) {
                    recovered.commit()
                    await Task.yield()
                }
            }
            let successor = try self.engine(recovered, second)
            #expect(try await runUntilIdle(successor) == .drained)
            pump.withLock { $0 = false }
            let before = Set(connector.sent.map(\.token))
            #expect(second.sent.count { before.contains($0.token) } <= 50)
            #expect(Set(second.sent.map(\.token)).union(before).count == 1000)
            group.cancelAll()
            journal.commit()
        }
    }

    @Test("A settlement that the disk refuses is tried again until it is written") func settlementRetry() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try engine(journal, connector) { $0.settlementRetry = .milliseconds(1) }
        _ = await engine.producer.submit([Sample.notification(1)])
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await connector.waitUntil { $0.count == 1 })
            journal.failWrites(with: JournalError(.diskFull, "no space"))
            connector.answer { _ in .confirmed }
            connector.endConnection(possiblySent: true)
            #expect(await connector.waitUntil { $0.count == 2 })
            guard case .refused(let refusal) = await engine.producer.submit([Sample.notification(2)])[0] else {
                Issue.record("expected a refusal")
                return
            }
            #expect(refusal.reason == .journalFailed)
            journal.failWrites(with: nil)
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
        }
        #expect(connector.sent.count == 2)
        #expect(journal.unconfirmedUIDs.isEmpty)
    }

    @Test("An undetermined commit is told as such, stops the engine, and nothing more is taken until a reopening")
    func undetermined() async throws {
        let journal = InMemoryJournal()
        let engine = try engine(journal, InMemoryConnector())
        journal.failWrites(with: JournalError(.undetermined, "the sync failed"))
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            guard case .undetermined = await engine.producer.submit([Sample.notification(1)])[0] else {
                Issue.record("expected an undetermined receipt")
                return
            }
            let error = await #expect(throws: JournalError.self) { try await group.next() }
            #expect(error?.code == .undetermined)
        }
        journal.failWrites(with: nil)
        guard case .refused = await engine.producer.submit([Sample.notification(2)])[0] else {
            Issue.record("expected a refusal")
            return
        }
    }

    @Test("Without a listener everything waits, and goes when one comes") func noListener() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        connector.failConnecting((0..<5).map { _ in ConnectError(.temporary, "connection refused") })
        let engine = try engine(journal, connector)
        _ = await engine.producer.submit((0..<3).map { Sample.notification($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.count == 3)
    }

    @Test("Considerate entries do not hold up an immediate one") func urgency() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try engine(journal, connector)
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
        let engine = try engine(journal, InMemoryConnector())
        let receipts = await engine.producer.submit(Array(repeating: Sample.notification(1), count: 1000))
        #expect(Set(receipts.compactMap(\.uid)).count == 1000)
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(engine.status().confirmed == 1000)
    }

    @Test("One notification to many devices has a UID for each") func manyDevices() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        let engine = try engine(journal, connector)
        let tokens = (0..<10).map { Sample.notification($0).token }
        let receipts = await engine.producer.submit(Sample.notification(1), to: tokens)
        #expect(receipts.compactMap(\.uid).count == 10)
        _ = try await runUntilIdle(engine)
        #expect(connector.sent.map(\.token) == tokens)
        #expect(Set(connector.sent.map(\.id)).count == 10)
    }

    @Test("A shutdown leaves what is not answered in the journal, as unconfirmed") func shutdown() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try engine(journal, connector) { $0.shutdownLimit = .zero }
        _ = await engine.producer.submit((0..<10).map { Sample.notification($0) })
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            #expect(await connector.waitUntil { $0.count == 10 })
            group.cancelAll()
        }
        #expect(journal.unconfirmedUIDs.count == 10)
        #expect(journal.rejections.isEmpty)
        guard case .refused(let refusal) = await engine.producer.submit([Sample.notification(1)])[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .shuttingDown)
    }

    @Test(
        "After an orderly shutdown what never left is known as never sent, and goes", arguments: Guarantee.allCases)
    func orderlyRestart(_ guarantee: Guarantee) async throws {
        let journal = InMemoryJournal()
        let slow = InMemoryConnector(capacity: 8) { _ in nil }
        let first = try engine(journal, slow) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<100).map { Sample.notification($0, guarantee: guarantee) })
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await slow.waitUntil { $0.count == 8 })
            group.cancelAll()
        }
        #expect(try journal.status().possiblySent == (guarantee == .atLeastOnce ? 8 : 0))
        let connector = InMemoryConnector()
        let second = try engine(journal, connector)
        #expect(try await runUntilIdle(second) == .drained)
        #expect(second.status().possibleDuplicates == (guarantee == .atLeastOnce ? 8 : 0))
        #expect(connector.sent.count == (guarantee == .atLeastOnce ? 100 : 92))
        #expect(try journal.status().totals.unknown == (guarantee == .atLeastOnce ? 0 : 8))
        #expect(try journal.status().possiblySent == 0)
    }

    @Test("An engine that nobody holds any more is freed, and its journal with it", arguments: [true, false])
    func freed(_ runs: Bool) async throws {
        weak var journal: InMemoryJournal?
        weak var engine: PushEngine?
        weak var connector: InMemoryConnector?
        func live() async throws {
            let (strongJournal, strongConnector) = (InMemoryJournal(), InMemoryConnector())
            let strongEngine = try self.engine(strongJournal, strongConnector)
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
