import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import HoldfastTesting
import Logging
import Scratch
import ServiceLifecycle
import Testing

/// A journal with something of everything: in the lane of considerate ones, which is paused, twenty that wait, ten of each
/// topic; and one rejection. The tool works on it as a process of its own.
struct OperatorWorld {
    let folder: TemporaryFolder
    let connector = InMemoryConnector()
    var journal: String { folder("j") }

    /// The token of the rejection.
    static let refused = 3

    init() throws { folder = try TemporaryFolder() }

    static func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    func tool(_ arguments: String..., input: String? = nil) async throws -> Tool.Result {
        try await Tool.start(arguments + ["--journal", journal], input: input).result()
    }

    func fill() async throws {
        connector.answer { notification in
            notification.recipient.text == Self.token(Self.refused)
                ? SendResult(apnsStatus: 413, reason: "PayloadTooLarge") : .confirmed
        }
        try await withEngine { engine in
            let desk = engine.desk
            for guarantee in Guarantee.allCases {
                let lane = LaneKey(route: "default", urgency: .considerate, guarantee: guarantee)
                try await desk.pause(lane, reason: "incident")
            }
            let waiting = try (11...30).map { number in
                PushNotification(
                    token: try DeviceToken(Self.token(number)), topic: number.isMultiple(of: 2) ? "a" : "b",
                    payload: Array(#"{"n":1}"#.utf8), priority: .considerate)
            }
            let first = try (1...10).map { number in
                PushNotification(
                    token: try DeviceToken(Self.token(number)), topic: "a", payload: Array(#"{"n":1}"#.utf8),
                    priority: .immediate)
            }
            for receipt in await engine.producer.submit(first + waiting) { _ = try receipt.get() }
            #expect(await waitUntil { engine.status().settled == 10 })
        }
        connector.answer { _ in .confirmed }
    }

    /// An engine that delivers while `body` runs, and serves its operators.
    func withEngine(
        _ configuration: EngineConfiguration = EngineConfiguration(), options: LMDBJournal.Options? = nil,
        _ body: @Sendable (PushEngine) async throws -> Void
    ) async throws {
        try await withJournal(configuration, options: options) { engine, _ in try await body(engine) }
    }

    /// The same, with the journal at hand.
    func withJournal(
        _ configuration: EngineConfiguration = EngineConfiguration(), options: LMDBJournal.Options? = nil,
        _ body: @Sendable (PushEngine, LMDBJournal) async throws -> Void
    ) async throws {
        let opened = try LMDBJournal(directory: journal, options: options ?? LMDBJournal.Options())
        defer { opened.close() }
        let engine = try PushEngine(
            journal: opened, routes: [Route(connector: connector)], configuration: configuration)
        let control = ControlSocket(desk: engine.desk, journal: journal, logger: Logger(label: "test"))
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: control), .init(service: engine)], logger: Logger(label: "test")))
        let socket = control.socketPath
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let isServed = await waitUntil { FileManager.default.fileExists(atPath: socket) }
            do {
                try #require(isServed)
                try await body(engine, opened)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// With an engine that delivers meanwhile, or at rest.
    func using(live: Bool, _ body: @Sendable () async throws -> Void) async throws {
        if live {
            try await withEngine { _ in try await body() }
        } else {
            try await body()
        }
    }

    func count(_ name: String) async throws -> Int {
        try await tool("journal", "status", "--json").count(name)
    }
}

extension Tool.Result {
    /// Standard output as one JSON object a line.
    func lines() throws -> [[String: Any]] {
        try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// The keys that the lines have, all of them together.
    func keys() throws -> Set<String> { Set(try lines().flatMap(\.keys)) }
}
