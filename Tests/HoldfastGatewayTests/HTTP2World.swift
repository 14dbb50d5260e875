import Foundation
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// An engine on an in-memory journal with a gateway before it, which listens for HTTP/2 in the clear.
struct HTTP2World {
    let journal: InMemoryJournal
    let connector: InMemoryConnector
    let engine: PushEngine
    let gateway: Gateway
    let task: Task<Void, any Error>

    static let topic = "com.example.app"
    static let token = String(repeating: "5a", count: 32)

    /// - Parameters:
    ///   - delivers: whether the engine runs.
    ///   - limits: what the service takes; nil for Apple's.
    static func start(
        journal: InMemoryJournal = InMemoryJournal(), topics: [Set<String>?] = [[topic]], delivers: Bool = false,
        limits: NotificationLimits? = nil,
        answer: @escaping InMemoryConnector.Answer = { _ in .confirmed },
        _ change: (inout HTTP2IngressConfiguration) throws -> Void = { _ in },
        gateway changeGateway: (inout GatewayConfiguration) throws -> Void = { _ in },
        engine changeEngine: (inout EngineConfiguration) throws -> Void = { _ in }
    ) async throws -> HTTP2World {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let connector = InMemoryConnector(answer: answer)
        let sender: any Connector = limits.map { LimitedConnector(connector, limits: $0) } ?? connector
        var settings = EngineConfiguration()
        settings.suspects.hold = .milliseconds(50)
        try changeEngine(&settings)
        let engine = try PushEngine(
            journal: journal,
            routes: topics.enumerated().map { Route(name: "route\($0)", connector: sender, topics: $1) },
            configuration: settings, logger: logger)
        var configuration = GatewayConfiguration()
        var http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
        try change(&http2)
        configuration.http2 = http2
        try changeGateway(&configuration)
        let gateway = try await Gateway(configuration, engine: engine, logger: logger)
        let task = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                if delivers { group.addTask { try await engine.run() } }
                group.addTask { try await gateway.run() }
                try await group.waitForAll()
            }
        }
        return HTTP2World(journal: journal, connector: connector, engine: engine, gateway: gateway, task: task)
    }

    var port: Int { gateway.addresses["http2"]!.port }

    var figures: IngressFigures.Values { gateway.figures.first { $0.name == "http2" }!.values }

    func client() async throws -> HTTP2Client { try await HTTP2Client.connect(port: port) }

    func stop() async throws {
        task.cancel()
        try await task.value
    }

    /// The header fields of a request in order.
    static func request(
        token: String = token, topic: String? = topic, _ more: [(String, String)] = []
    ) -> [(String, String)] {
        [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost")]
            + (topic.map { [("apns-topic", $0)] } ?? []) + more
    }

    /// A token that is a number's own.
    static func token(_ number: Int) -> String {
        Hex.string((0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }
}

/// A connector that takes something else than Apple's.
private struct LimitedConnector: Connector {
    private let connector: InMemoryConnector
    let limits: NotificationLimits

    init(_ connector: InMemoryConnector, limits: NotificationLimits) {
        (self.connector, self.limits) = (connector, limits)
    }

    var confirmationMode: ConfirmationMode { connector.confirmationMode }
    var endpoint: String { connector.endpoint }
    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        try await connector.connect(sink)
    }
}

/// What is other than usual in a world's settings.
struct Change<Settings> {
    let apply: (inout Settings) throws -> Void

    init(_ apply: @escaping (inout Settings) throws -> Void) { self.apply = apply }
}

/// Runs `body` with a world, and stops it whatever happens.
func withHTTP2World<R>(
    journal: InMemoryJournal = InMemoryJournal(), topics: [Set<String>?] = [[HTTP2World.topic]], delivers: Bool = false,
    limits: NotificationLimits? = nil,
    answer: @escaping InMemoryConnector.Answer = { _ in .confirmed },
    _ change: Change<HTTP2IngressConfiguration> = Change { _ in },
    gateway changeGateway: Change<GatewayConfiguration> = Change { _ in },
    engine changeEngine: Change<EngineConfiguration> = Change { _ in },
    _ body: (HTTP2World) async throws -> R
) async throws -> R {
    let world = try await HTTP2World.start(
        journal: journal, topics: topics, delivers: delivers, limits: limits, answer: answer, change.apply,
        gateway: changeGateway.apply, engine: changeEngine.apply)
    let result: R
    do {
        result = try await body(world)
    } catch {
        try await world.stop()
        throw error
    }
    try await world.stop()
    return result
}

/// Waits until a condition holds, and fails the test when it does not within thirty seconds.
func eventually(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record(what, sourceLocation: sourceLocation)
}
