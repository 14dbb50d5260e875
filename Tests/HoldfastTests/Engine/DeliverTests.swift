import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import Holdfast

/// What became of one notification, and of all of a reader's.
@Suite(.timeLimit(.minutes(1))) struct DeliverTests {
    private func notification(_ number: Int, id: UInt64? = nil) -> PushNotification {
        var notification = Sample.notification(number)
        notification.id = id.map { NotificationID(high: 7, low: $0) }
        return notification
    }

    @Test("Each of a thousand tasks gets the outcome of its own notification") func thousand() async throws {
        let engine = try testEngine(
            InMemoryJournal(),
            InMemoryConnector { notification in
                let number = Sample.number(of: notification)
                return number.isMultiple(of: 3)
                    ? SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 5)) : .confirmed
            })
        try await running(engine) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...1000 {
                    group.addTask {
                        let outcome = try await engine.deliver(Sample.notification(number))
                        #expect(outcome.token == Sample.notification(number).token)
                        #expect(outcome.terminal == (number.isMultiple(of: 3) ? .rejected(.unregistered) : .confirmed))
                        #expect(outcome.history.attempts == 1 && outcome.history.sentAt != nil)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("After a restart the same notification with its id is not sent again, and its outcome is told")
    func restarted() async throws {
        let journal = InMemoryJournal()
        let silent = InMemoryConnector { _ in nil }
        let first = try testEngine(journal, silent)
        let waiting = notification(1, id: 1)
        // The process ends while it waits.
        try await running(first) {
            let task = Task { try await first.deliver(waiting) }
            try await silent.untilSent(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let connector = InMemoryConnector()
        let second = try testEngine(journal.crashed(), connector)
        try await running(second) {
            let outcome = try await second.deliver(waiting)
            #expect(outcome.terminal == .confirmed && outcome.id == waiting.id)
            let again = try await second.deliver(waiting)
            #expect(again == outcome)
            #expect(connector.sent.count == 1)
        }
    }

    @Test("What is refused is thrown, and so is an engine that keeps no history") func refused() async throws {
        let engine = try testEngine(InMemoryJournal(), InMemoryConnector())
        var wrong = Sample.notification(1)
        wrong.payload = Array("no JSON".utf8)
        await #expect(throws: Refusal.self) { try await engine.deliver(wrong) }
        let forgetful = try testEngine(InMemoryJournal(), InMemoryConnector()) { $0.history = .none }
        await #expect(throws: DeliveryError.historyIsOff) { try await forgetful.deliver(Sample.notification(1)) }
    }

    @Test("Without a history nobody becomes a reader, and one that is there changes nothing") func noHistory()
        async throws
    {
        let journal = InMemoryJournal()
        let first = try testEngine(journal, InMemoryConnector())
        _ = try first.outcomes(reader: "crm")
        let engine = try testEngine(journal.crashed(), InMemoryConnector()) { $0.history = .none }
        #expect { try engine.outcomes(reader: "mails") } throws: { ($0 as? JournalError)?.code == .notFound }
        await #expect {
            try await engine.desk.openOutcomeReader("mails")
        } throws: {
            ($0 as? JournalError)?.message == JournalError.historyIsOff.message
        }
        _ = await engine.producer.submit([Sample.notification(1)])
        #expect(try await runUntilIdle(engine) == .drained)
        let log = try await engine.desk.outcomeLog()
        #expect(log.newest == .start && !log.isKept && log.readers.map(\.name) == ["crm"])
    }

    @Test("The end of the engine is told to whoever waits") func ended() async throws {
        let connector = InMemoryConnector { _ in nil }
        let engine = try testEngine(InMemoryJournal(), connector) { $0.shutdownLimit = .milliseconds(1) }
        let task = Task { try await engine.deliver(Sample.notification(1)) }
        try await running(engine) { try await connector.untilSent(1) }
        await #expect(throws: DeliveryError.engineEnded(UID(1))) { try await task.value }
    }

    @Test("Two readers get all outcomes each, at their own pace, and go on after a restart") func readers() async throws
    {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector())
        let first = try engine.outcomes(reader: "first")
        let second = try engine.outcomes(reader: "second")
        _ = await engine.producer.submit((1...10).map { Sample.notification($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        var iterator = first.makeAsyncIterator()
        let all = try #require(try await iterator.next())
        #expect(all.outcomes.map(\.uid) == (1...10).map { UID($0) } && all.missed == 0)
        var other = second.makeAsyncIterator()
        #expect(try await other.next()?.outcomes.count == 10)
        try await all.taken()
        let next = try testEngine(journal.crashed(), InMemoryConnector())
        _ = await next.producer.submit([Sample.notification(11)])
        #expect(try await runUntilIdle(next) == .drained)
        var third = try next.outcomes(reader: "first").makeAsyncIterator()
        #expect(try await third.next()?.outcomes.map(\.uid) == [UID(11)])
        var fourth = try next.outcomes(reader: "second").makeAsyncIterator()
        #expect(try await fourth.next()?.outcomes.count == 11)
    }

    @Test("A reader of some Producers is told theirs, and passes the others") func producers() async throws {
        let engine = try testEngine(InMemoryJournal(), InMemoryConnector())
        let mine = try engine.outcomes(reader: "crm", of: ["crm"])
        for number in 1...20 {
            let producer = try engine.producer(named: number.isMultiple(of: 10) ? "crm" : "mails")
            _ = await producer.submit([Sample.notification(number)])
        }
        #expect(try await runUntilIdle(engine) == .drained)
        var iterator = mine.makeAsyncIterator()
        let batch = try #require(try await iterator.next())
        #expect(batch.outcomes.map(\.producer) == ["crm", "crm"] && batch.end == OutcomeCursor(20))
    }

    @Test("A reader that is too slow is told how many outcomes it has missed, and delivery did not wait for it")
    func missed() async throws {
        let journal = InMemoryJournal()
        let engine = try testEngine(journal, InMemoryConnector()) {
            $0.housekeeping = .milliseconds(1)
            $0.history.limitBytes = 128 * 4
        }
        let slow = try engine.outcomes(reader: "slow")
        _ = await engine.producer.submit((1...10).map { Sample.notification($0) })
        try await running(engine) {
            while journal.outcomeLog.deleted < OutcomeCursor(6) { try await Task.sleep(for: .milliseconds(1)) }
        }
        var iterator = slow.makeAsyncIterator()
        let batch = try #require(try await iterator.next())
        #expect(batch.missed == 6 && batch.outcomes.count == 4)
    }

    @Test("Ended notifications are found, and a wrong name or cursor is refused") func found() async throws {
        let engine = try testEngine(InMemoryJournal(), InMemoryConnector())
        _ = await engine.producer.submit((1...10).map { Sample.notification($0) })
        #expect(try await runUntilIdle(engine) == .drained)
        var query = OutcomeQuery()
        query.recipient = Sample.notification(4).recipient
        #expect(try engine.findOutcomes(query).outcomes.map(\.uid) == [UID(4)])
        #expect(try engine.outcome(of: UID(4))?.terminal == .confirmed)
        #expect(try engine.outcome(of: UID(99)) == nil)
        #expect(throws: JournalError.self) { try engine.outcomes(reader: "engine") }
        await #expect(throws: JournalError.self) { try await engine.moveReader("nobody", to: .start) }
        _ = try engine.outcomes(reader: "ops")
        await #expect(throws: JournalError.self) { try await engine.moveReader("ops", to: OutcomeCursor(11)) }
        try await engine.moveReader("ops", to: OutcomeCursor(3))
        #expect(engine.outcomeReaders.map(\.cursor) == [OutcomeCursor(3)])
        try await engine.forgetReader("ops")
        #expect(engine.outcomeReaders.isEmpty)
    }

    /// Runs the engine during `body`.
    private func running(_ engine: PushEngine, _ body: () async throws -> Void) async throws {
        let run = Task { try await engine.run() }
        do { try await body() } catch {
            run.cancel()
            try? await run.value
            throw error
        }
        run.cancel()
        try await run.value
    }
}

extension InMemoryConnector {
    fileprivate func untilSent(_ count: Int) async throws {
        while sent.count < count { try await Task.sleep(for: .milliseconds(1)) }
    }
}
