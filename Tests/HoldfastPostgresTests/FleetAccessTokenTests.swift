import Holdfast
import HoldfastMockFCM
import HoldfastPQ
import HoldfastPostgres
import HoldfastRequests
import HoldfastService
import HoldfastTesting
import Logging
import TestPostgres
import Testing

@testable import HoldfastFCM

@Suite("Access tokens in the database", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct FleetAccessTokenTests {
    /// A host: its part of the database, and its connector to Google's mock.
    private struct Host {
        let share: TokenShare
        let connector: FCMConnector
        let source: AccessTokenSource

        /// - Parameter port: of the database.
        init(_ schema: OwnSchema, _ mock: MockFCMServer, port: Int? = nil) throws {
            let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)", port: port))
            let registry = AccessTokenRegistry(clock: .system)
            share = TokenShare(FleetTokenStore(try FleetNoteClient(target, schema.name)), of: [registry])
            var configuration = FCMConnector.Configuration(
                serviceAccount: try ServiceAccount(file: mock.serviceAccountFile))
            configuration.endpoint = try FCMEndpoint("https://\(mock.address)")
            configuration.trust = .file(mock.certificateAuthorityFile)
            configuration.tokens = registry
            connector = try FCMConnector(configuration)
            source = try #require(registry.sharedTokens.first as? AccessTokenSource)
        }

        /// Delivers this many messages.
        func send(_ count: Int) async throws {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            var terms = EngineConfiguration()
            terms.reconnectMinimum = .milliseconds(5)
            terms.reconnectMaximum = .milliseconds(50)
            let engine = try PushEngine(
                journal: InMemoryJournal(), routes: [Route(connector: connector, connections: 1)], configuration: terms,
                logger: logger)
            let messages = try (0..<count).map { number in
                PushNotification(
                    address: try ServiceAddress(.firebaseInstallation, "f-\(number)"), topic: "mock-project",
                    payload: Array(#"{"data":{"n":"1"}}"#.utf8))
            }
            for receipt in await engine.producer.submit(messages) { _ = try receipt.get() }
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await engine.run() }
                _ = await engine.untilIdle()
                group.cancelAll()
            }
            #expect(engine.status().confirmed == count)
        }
    }

    @Test("Two hosts send with one access token, which one of them fetches; so with the one after it") func one()
        async throws
    {
        let schema = try OwnSchema()
        let mock = try await MockFCMServer.start()
        let hosts = try (0..<2).map { _ in try Host(schema, mock) }
        for host in hosts {
            try await host.send(10)
            // What the first has fetched is in the database by now, or will be with this.
            try await host.share.exchange()
        }
        #expect(mock.counters.tokens == 1 && mock.counters.accepted == 20)
        mock.revokeAccessTokens()
        for host in hosts {
            try await host.send(10)
            try await host.share.exchange()
        }
        #expect(mock.counters.tokens == 2 && mock.counters.accepted == 40)
        #expect(try hosts[0].source.current().text == hosts[1].source.current().text)
        // A third has it from the database alone.
        try await Host(schema, mock).send(1)
        #expect(mock.counters.tokens == 2)
        try await mock.stop()
    }

    @Test("While the database is away each host fetches as alone, and sends") func away() async throws {
        let schema = try OwnSchema()
        let mock = try await MockFCMServer.start()
        // Nobody listens there.
        let hosts = try (0..<2).map { _ in try Host(schema, mock, port: 1) }
        for host in hosts { try await host.send(10) }
        #expect(mock.counters.tokens == 2 && mock.counters.accepted == 20)
        try await mock.stop()
    }
}
