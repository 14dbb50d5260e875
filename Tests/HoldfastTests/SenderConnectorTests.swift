import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct SenderConnectorTests {
    private func run(_ connector: SenderConnector, _ notifications: [PushNotification]) async throws -> (
        PushEngine, InMemoryJournal
    ) {
        var configuration = EngineConfiguration()
        configuration.retry = RetrySchedule(minimum: .milliseconds(2), maximum: .milliseconds(4), greatestCount: 5)
        configuration.reconnectMinimum = .milliseconds(1)
        configuration.shutdownLimit = .milliseconds(100)
        let journal = InMemoryJournal()
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration)
        _ = await engine.producer.submit(notifications)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            _ = await engine.untilIdle()
            group.cancelAll()
        }
        return (engine, journal)
    }

    @Test("Any closure becomes a sender, with at most so many calls at a time") func concurrency() async throws {
        let calls = Monitor((now: 0, most: 0, total: 0))
        let connector = SenderConnector(concurrency: 5) { _ in
            calls.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
                $0.total += 1
            }
            await Task.yield()
            calls.withLock { $0.now -= 1 }
            return .confirmed
        }
        let (engine, _) = try await run(connector, (0..<500).map { Sample.notification($0) })
        #expect(engine.status().confirmed == 500)
        #expect(calls.withLock { $0.total } == 500)
        #expect(calls.withLock { $0.most } <= 5)
    }

    struct Broken: Error {}

    @Test("A thrown error means unknown: at least once goes again, at most once does not") func thrown() async throws {
        let failedOnce = Monitor<Set<Recipient>>([])
        let connector = SenderConnector { notification in
            if failedOnce.withLock({ $0.insert(notification.recipient).inserted }) { throw Broken() }
            return .confirmed
        }
        let (engine, journal) = try await run(
            connector, [Sample.notification(1), Sample.notification(2, guarantee: .atMostOnce)])
        #expect(engine.status().confirmed == 1)
        #expect(engine.status().unknown == 1)
        #expect(engine.status().possibleDuplicates == 1)
        #expect(journal.unconfirmedUIDs.isEmpty)
    }

    @Test("An error that says notSent goes again, at most once or not, and is no duplicate") func notSent() async throws
    {
        let tries = Monitor(0)
        let connector = SenderConnector { _ in
            if tries.withLock({
                $0 += 1
                return $0
            }) < 3 {
                throw SendFailure.notSent("no route to host")
            }
            return .confirmed
        }
        let (engine, _) = try await run(connector, [Sample.notification(1, guarantee: .atMostOnce)])
        #expect(engine.status().confirmed == 1)
        #expect(engine.status().possibleDuplicates == 0)
    }

    @Test("A call that does not return by its deadline is unknown, and holds nobody up") func deadline() async throws {
        let connector = SenderConnector(deadline: .milliseconds(20), concurrency: 4) { notification in
            if notification.token == Sample.notification(1).token { try await Task.sleep(for: .seconds(3600)) }
            return .confirmed
        }
        let (engine, _) = try await run(connector, (0..<50).map { Sample.notification($0, guarantee: .atMostOnce) })
        #expect(engine.status().confirmed == 49)
        #expect(engine.status().unknown == 1)
    }

    @Test("Calls that ignore their cancellation do not hang the engine") func stuck() async throws {
        let releases = Monitor<[CheckedContinuation<Void, Never>]>([])
        let connector = SenderConnector(deadline: .milliseconds(20), concurrency: 2) { _ in
            await withCheckedContinuation { continuation in releases.withLock { $0.append(continuation) } }
            return .confirmed
        }
        let (engine, _) = try await run(connector, (0..<4).map { Sample.notification($0, guarantee: .atMostOnce) })
        #expect(engine.status().unknown == 4)
        for release in releases.withLock({ $0 }) { release.resume() }
    }

    @Test("Apple's answers are classified by the one table") func answers() async throws {
        let connector = SenderConnector { notification in
            notification.token == Sample.notification(1).token
                ? SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1))
                : SendResult(apnsStatus: 200)
        }
        let (engine, journal) = try await run(connector, [Sample.notification(1), Sample.notification(2)])
        #expect(engine.status().confirmed == 1)
        #expect(journal.rejections.values.map(\.reason) == [.unregistered])
        #expect(try engine.blacklist.isBlacklisted(Sample.notification(1).token!) != nil)
    }
}
