import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

/// Stands for what is yours: code that submits notifications.
func greet(_ token: DeviceToken, with producer: Producer) async throws {
    let greeting = PushNotification(
        token: token, topic: "com.example.app", payload: #"{"aps":{"alert":"Welcome!"}}"#, pushType: .alert)
    try await producer.submit(greeting)
}

@Suite struct GreetingTests {
    let token: DeviceToken
    let journal = InMemoryJournal()
    let connector = InMemoryConnector()
    let clock = ManualClock()

    init() throws { token = try DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0") }

    /// Delivers until nothing is left to do, while `body` runs.
    func delivering(_ engine: PushEngine, _ body: () async throws -> Void = {}) async throws {
        let run = Task { try await engine.run() }
        try await body()
        _ = await engine.untilIdle()
        run.cancel()
        try await run.value
    }

    func engine(_ journal: InMemoryJournal) throws -> PushEngine {
        try PushEngine(journal: journal, routes: [Route(connector: connector)], clock: clock.engineClock)
    }

    @Test("A greeting is sent to its device, once") func greets() async throws {
        let engine = try engine(journal)
        try await greet(token, with: engine.producer)
        try await delivering(engine)
        #expect(connector.wasSent(to: .device(token)))
        #expect(connector.lastSent(to: .device(token))?.pushType == .alert)
        #expect(connector.sent.count == 1)
        #expect(journal.entries.isEmpty)
    }

    @Test("A greeting that the service can't take now is sent later") func greetsLater() async throws {
        connector.answer { _ in SendResult(apnsStatus: 503, reason: "ServiceUnavailable") }
        let engine = try engine(journal)
        try await greet(token, with: engine.producer)
        try await delivering(engine) {
            #expect(await connector.waitUntil { $0.count == 1 })
            connector.answer { _ in .confirmed }
            // Nobody waits for an hour: the clock is moved until the retry has come.
            #expect(
                await connector.waitUntil { sent in
                    clock.advance(by: .seconds(60))
                    return sent.count == 2
                })
        }
        #expect(journal.totals.confirmed == 1)
    }

    @Test("A greeting that was accepted survives a crash") func survives() async throws {
        try await greet(token, with: engine(journal).producer)
        try await delivering(engine(journal.crashed()))
        #expect(connector.wasSent(to: .device(token)))
    }

    @Test("A greeting that the disk refuses is refused, and not lost in silence") func isRefused() async throws {
        let engine = try engine(journal)
        journal.failWrites(with: JournalError(.diskFull, "the disk is full"))
        await #expect(throws: Refusal.self) { try await greet(token, with: engine.producer) }
        #expect(journal.entries.isEmpty)
    }
}
