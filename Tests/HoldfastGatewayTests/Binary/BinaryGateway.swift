import Foundation
import Holdfast
import HoldfastTesting
import Logging

@testable import HoldfastGateway

/// A gateway with the listeners that a test asks for, in front of an engine that accepts and delivers nothing.
struct BinaryGateway: Sendable {
    static let topic = "com.example.app"

    let journal: InMemoryJournal
    let engine: PushEngine
    let gateway: Gateway

    var port: Int { gateway.addresses["binary"]?.port ?? 0 }
    var figures: IngressFigures.Values { gateway.figures.first { $0.name == "binary" }?.values ?? .init() }
    /// Payloads on disk, in order.
    var payloads: [[UInt8]] { journal.entries.map(\.notification.payload) }

    /// What those on disk are for, in order.
    var topics: [String] { journal.entries.map(\.notification.topic) }

    /// Starts one, and drains it whatever happens.
    static func run(
        journal: InMemoryJournal = InMemoryJournal(), topics: Set<String>? = nil, patience: Duration = .seconds(30),
        uncommitted: Int = 1000, _ body: (BinaryGateway) async throws -> Void
    ) async throws {
        var binary = BinaryIngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0), topic: topic)
        binary.roomLimit = patience
        binary.uncommitted = uncommitted
        var configuration = GatewayConfiguration()
        configuration.binary = binary
        configuration.drainLimit = .seconds(5)
        try await run(configuration, journal: journal, topics: topics, body)
    }

    static func run(
        _ configuration: GatewayConfiguration, journal: InMemoryJournal = InMemoryJournal(),
        topics: Set<String>? = nil, _ body: (BinaryGateway) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: InMemoryConnector(), topics: topics)], logger: logger)
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run() }
            defer { group.cancelAll() }
            try await body(BinaryGateway(journal: journal, engine: engine, gateway: gateway))
        }
    }
}
