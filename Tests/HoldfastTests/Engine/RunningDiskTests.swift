import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// The whole engine on its threads: kills, shutdowns, a disk that fails.
@Suite(.timeLimit(.minutes(1))) struct RunningDiskTests {
    @Test("What a crash left goes again with the same apns-id, and is counted as possible duplicates") func crash()
        async throws
    {
        let journal = InMemoryJournal()
        let silent = InMemoryConnector { _ in nil }
        let first = try testEngine(journal, silent) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<10).map { Sample.notification($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await silent.waitUntil { $0.count == 10 })
            let reopened = journal.crashed()
            let connector = InMemoryConnector()
            let second = try testEngine(reopened, connector)
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
        let first = try testEngine(journal, silent) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<10).map { Sample.notification($0, guarantee: .atMostOnce) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await silent.waitUntil { $0.count == 10 })
            let connector = InMemoryConnector()
            let reopened = journal.crashed()
            let second = try testEngine(reopened, connector)
            _ = await second.producer.submit([Sample.notification(10, guarantee: .atMostOnce)])
            #expect(try await runUntilIdle(second) == .drained)
            #expect(connector.sent.map(\.token) == [Sample.notification(10).token])
            #expect(try reopened.status().totals.unknown == 10)
            group.cancelAll()
        }
    }

    @Test("The window is freed by the durable settlement, not by the answer") func windowHolds() async throws {
        let journal = InMemoryJournal(mode: .manual)
        let connector = InMemoryConnector()
        let engine = try testEngine(journal, connector) {
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
            let successor = try testEngine(recovered, second)
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
        let engine = try testEngine(journal, connector) { $0.settlementRetry = .milliseconds(1) }
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
            #expect(refusal.reason == .journalFull)
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
        let engine = try testEngine(journal, InMemoryConnector())
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

    @Test("A shutdown leaves what is not answered in the journal, as unconfirmed") func shutdown() async throws {
        let journal = InMemoryJournal()
        let connector = InMemoryConnector { _ in nil }
        let engine = try testEngine(journal, connector) { $0.shutdownLimit = .zero }
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
        let first = try testEngine(journal, slow) { $0.shutdownLimit = .zero }
        _ = await first.producer.submit((0..<100).map { Sample.notification($0, guarantee: guarantee) })
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            #expect(await slow.waitUntil { $0.count == 8 })
            group.cancelAll()
        }
        #expect(try journal.status().possiblySent == (guarantee == .atLeastOnce ? 8 : 0))
        let connector = InMemoryConnector()
        let second = try testEngine(journal, connector)
        #expect(try await runUntilIdle(second) == .drained)
        #expect(second.status().possibleDuplicates == (guarantee == .atLeastOnce ? 8 : 0))
        #expect(connector.sent.count == (guarantee == .atLeastOnce ? 100 : 92))
        #expect(try journal.status().totals.unknown == (guarantee == .atLeastOnce ? 0 : 8))
        #expect(try journal.status().possiblySent == 0)
    }
}
