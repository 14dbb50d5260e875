import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastJournal

/// Routes exchanged over the journal on disk.
@Suite(.timeLimit(.minutes(1))) struct ReconfigureTests {
    private func notification(_ number: Int) -> PushNotification {
        PushNotification(token: sample(number).token!, topic: "com.example.app", payload: "{\"n\":\(number)}")
    }

    @Test(
        "Under load the lanes are handed on and on: everything is taken, each once, in order; and what a kill leaves goes"
    )
    func load() async throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var options = LMDBJournal.Options()
        options.durability = .process
        var journal = try LMDBJournal(directory: scratch.journal, options: options)
        var configuration = EngineConfiguration()
        configuration.window = 20
        configuration.reconnectInterval = .zero
        let connectors = (0..<12).map { _ in InMemoryConnector() }
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connectors[0])], configuration: configuration)
        let running = Task { try await engine.run() }
        let producer = engine.producer
        let isOver = Monitor(false)
        async let submitted = {
            var uids: [UID] = []
            while !isOver.withLock({ $0 }) {
                let start = uids.count
                uids += await producer.submit((start..<start + 30).map(notification)).compactMap(\.uid)
            }
            return uids
        }()
        for (last, connector) in zip(connectors, connectors.dropFirst()) {
            #expect(await last.waitUntil { !$0.isEmpty })
            let report = try await engine.reconfigure(
                routes: [Route(connector: connector)], configuration: configuration)
            #expect(report.replaced == ["default"])
        }
        isOver.withLock { $0 = true }
        let uids = await submitted
        #expect(uids == uids.indices.map { UID(UInt64($0 + 1)) })
        #expect(await engine.untilIdle() == .drained)
        #expect(connectors.flatMap(\.sent).map(\.token) == uids.indices.map { sample($0).token })
        #expect(engine.status().possibleDuplicates == 0)
        // Nobody serves them: a route of another name.
        try await engine.reconfigure(
            routes: [Route(name: "other", connector: InMemoryConnector(answer: { _ in nil }))],
            configuration: configuration)
        #expect(await producer.submit((0..<50).map(notification)).compactMap(\.uid).count == 50)
        running.cancel()
        try await running.value
        journal.close()
        journal = try LMDBJournal(directory: scratch.journal, options: options)
        defer { journal.close() }
        #expect(try journal.status().unconfirmed == 50)
        let last = InMemoryConnector()
        let next = try PushEngine(
            journal: journal, routes: [Route(name: "other", connector: last)], configuration: configuration)
        let again = Task { try await next.run() }
        #expect(await next.untilIdle() == .drained)
        again.cancel()
        try await again.value
        #expect(last.sent.map(\.token) == (0..<50).map { sample($0).token })
    }
}
