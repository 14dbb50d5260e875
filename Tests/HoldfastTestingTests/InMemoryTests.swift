import Holdfast
import HoldfastTesting
import Testing

/// What users of the in-memory parts rely on.
@Suite(.timeLimit(.minutes(1))) struct InMemoryTests {
    private func notification(_ digit: String) throws -> PushNotification {
        PushNotification(
            token: try DeviceToken(String(repeating: digit, count: 64)), topic: "com.example.app",
            payload: #"{"aps":{}}"#)
    }

    private func run(_ engine: PushEngine) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            _ = await engine.untilIdle()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("A test can ask what was sent to whom") func wasSent() async throws {
        let connector = InMemoryConnector()
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: connector)])
        let notification = try notification("a")
        try await engine.producer.submit(notification)
        try await run(engine)
        #expect(connector.wasSent(to: notification.recipient))
        #expect(connector.lastSent(to: notification.recipient)?.payload == notification.payload)
        #expect(try !connector.wasSent(to: self.notification("b").recipient))
    }

    @Test("Nothing is committed before it is told to, in manual mode; a crash loses what waited") func manual()
        async throws
    {
        let journal = InMemoryJournal(mode: .manual)
        let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        engine.producer.submit([try notification("a")]) { _ in }
        #expect(journal.unconfirmedUIDs.isEmpty)
        #expect(journal.crashed().unconfirmedUIDs.isEmpty)
        journal.commit()
        #expect(journal.unconfirmedUIDs == [UID(1)])
        #expect(journal.crashed().unconfirmedUIDs == [UID(1)])
    }

    @Test("UIDs go on after a crash, and are not used again") func uids() async throws {
        let journal = InMemoryJournal()
        let first = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        let one = try await first.producer.submit(notification("a"))
        try await run(first)
        let second = try PushEngine(journal: journal.crashed(), routes: [Route(connector: InMemoryConnector())])
        let two = try await second.producer.submit(notification("b"))
        #expect(two > one)
    }

    @Test("A closed journal refuses, and says that it is closed") func closed() async throws {
        let journal = InMemoryJournal()
        let engine = try PushEngine(journal: journal, routes: [Route(connector: InMemoryConnector())])
        journal.close()
        guard case .refused(let refusal) = await engine.producer.submit([try notification("a")])[0] else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .journalFailed)
        #expect(refusal.detail.contains("closed"))
    }
}
