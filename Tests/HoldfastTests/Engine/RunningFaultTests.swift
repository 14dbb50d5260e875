import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// The whole engine on its threads: bad answers, connections that end.
@Suite(.timeLimit(.minutes(1))) struct RunningFaultTests {
    @Test(
        "Bad credentials stop the lanes, burn nothing, and after a crash everything is delivered, none unknown",
        arguments: Guarantee.allCases)
    func stoppedLane(_ guarantee: Guarantee) async throws {
        let journal = InMemoryJournal()
        let refusing = InMemoryConnector(capacity: 10) { _ in
            SendResult(apnsStatus: 403, reason: "InvalidProviderToken")
        }
        let first = try testEngine(journal, refusing)
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
        let second = try testEngine(reopened, good)
        #expect(try await runUntilIdle(second) == .drained)
        #expect(good.sent.count == 100)
        #expect(try reopened.status().totals.unknown == 0)
        #expect(try reopened.status().totals.confirmed == 100)
    }

    @Test("A stopped lane resumes where it was when it is told to") func resume() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in SendResult(apnsStatus: 403, reason: "Forbidden") }
        let engine = try testEngine(journal, connector)
        _ = await engine.producer.submit([Sample.notification(1)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            guard case .stopped = await engine.untilIdle() else {
                Issue.record("expected a stop")
                return
            }
            connector.answer { _ in .confirmed }
            for lane in engine.status().lanes { try await engine.desk.resume(lane.key) }
            #expect(await engine.untilIdle() == .drained)
            group.cancelAll()
        }
    }

    @Test("While nobody listens, entries that are due do not keep the engine busy") func noBusyLoop() throws {
        let journal = InMemoryJournal()
        let requested = Monitor(0)
        var configuration = EngineConfiguration()
        // What waits is measured now and then, which is not meant here.
        configuration.measureInterval = .seconds(3600)
        let core = try EngineCore(
            journal: journal, routes: [Route(connector: InMemoryConnector())], configuration: configuration,
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
        let consumer = core.consumers[0]
        let wake0 = core.turn(route: 0)
        #expect(wake0 == [consumer.housekeeping.next, consumer.reports.nextLook].compactMap { $0 }.min())
        core.connected(route: 0, connection: 1, .failure(ConnectError(.temporary, "refused")))
        let wake = core.turn(route: 0)
        guard let until = core.consumers[0].connections.pool.nextAttempt else {
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
        let engine = try testEngine(journal, connector)
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
        let silent = InMemoryConnector { _ in nil }
        let first = try testEngine(journal, silent) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<200).map { Sample.notification($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await silent.waitUntil { $0.count == 200 })
            let lane = try #require(try journal.status().lanes.first { $0.unconfirmed == 200 }?.id)
            let now = EngineClock.system.wall()
            // Every other one, due in no order, and some of them long ago.
            let deferrals = stride(from: 1, through: 199, by: 2).map { number in
                let due = now.advanced(by: .milliseconds(number * 37 % 200 - 100))
                return Settlement(
                    EntryKey(lane: lane, uid: UID(UInt64(number))),
                    .deferUntil(due, attempts: 1, reason: .serviceUnavailable, possiblySent: number.isMultiple(of: 3)))
            }
            journal.settle(SettlementBatch(others: deferrals)) { _ in }
            #expect(try journal.status().deferred == 100)
            let reopened = journal.crashed()
            group.cancelAll()
            let connector = InMemoryConnector()
            let second = try testEngine(reopened, connector) { $0.window = window }
            #expect(try await runUntilIdle(second) == .drained)
            #expect(connector.sent.count == 200)
            #expect(Set(connector.sent.map(\.token)).count == 200)
            #expect(second.status().confirmed == 200)
        }
    }

    @Test("An entry that is deferred too often becomes a rejection") func tooManyAttempts() async throws {
        let journal = InMemoryJournal()
        // Others are taken: it is not the service.
        let connector = InMemoryConnector {
            Sample.number(of: $0) == 1 ? SendResult(apnsStatus: 503, reason: "ServiceUnavailable") : .confirmed
        }
        let engine = try testEngine(journal, connector)
        _ = await engine.producer.submit((1..<20).map { Sample.notification($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(journal.rejections[UID(1)]?.reason == .tooManyAttempts)
    }

    @Test("A connection that ends without answers sends again what is at least once, in order, and nothing else")
    func connectionEnds() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try testEngine(journal, connector)
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
        let engine = try testEngine(journal, connector)
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

    @Test("Without a listener everything waits, and goes when one comes") func noListener() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector()
        connector.failConnecting((0..<5).map { _ in ConnectError(.temporary, "connection refused") })
        let engine = try testEngine(journal, connector)
        _ = await engine.producer.submit((0..<3).map { Sample.notification($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        #expect(connector.sent.count == 3)
    }
}
