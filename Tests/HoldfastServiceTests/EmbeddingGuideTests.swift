import Configuration
import Foundation
import Holdfast
import HoldfastService
import Logging
import Scratch
import Testing

@Suite("Docs/Guide/Embedding.md", .timeLimit(.minutes(1)))
struct EmbeddingGuideTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Its examples are quoted to the letter", arguments: ["EmbeddingExample", "ConfigReaderExample"])
    func quoted(_ name: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: tests.appendingPathComponent("../../Docs/Guide/Embedding.md"), encoding: .utf8)
        let example = try String(contentsOf: tests.appendingPathComponent("\(name).swift"), encoding: .utf8)
        #expect(page.contains("```swift\n\(example)```\n"))
    }

    @Test("The first serves until its task ends")
    func serves() async throws {
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal}
            routes: [{endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        let (reloads, reload) = AsyncStream<Void>.makeStream()
        let path = folder("holdfast.yaml")
        let run = Task {
            try await servePushes(
                configuration: path, reloads: reloads, logger: Logger(label: "app") { _ in SwiftLogNoOpLogHandler() })
        }
        #expect(await waitUntil { FileManager.default.fileExists(atPath: folder("push.journal/control.sock")) })
        reload.yield()
        run.cancel()
        _ = await run.result
        #expect(await waitUntil { !FileManager.default.fileExists(atPath: folder("push.journal/control.sock")) })
    }

    @Test("The second takes what the application's configuration says over the file, and names it in mistakes")
    func values() throws {
        try folder.write(
            "c.yaml",
            """
            limits: {window: 10, park: 1m}
            routes: [{name: example, endpoint: sandbox, topics: [a]}]
            clients: [{name: sender}]
            """)
        func config(_ variables: [String: String]) -> ConfigReader {
            ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables))
        }
        let read = try configuration(
            file: folder("c.yaml"),
            over: config([
                "HOLDFAST_LIMITS_WINDOW": "77", "HOLDFAST_ROUTES_EXAMPLE_SIGNING_KEY_KEY_ID": "K",
                "HOLDFAST_ROUTES_EXAMPLE_SIGNING_KEY_TEAM_ID": "T",
                "HOLDFAST_ROUTES_EXAMPLE_SIGNING_KEY_PEM": "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----",
                "HOLDFAST_ROUTES_1_NAME": "other", "HOLDFAST_ROUTES_1_ENDPOINT": "production",
                "HOLDFAST_ROUTES_OTHER_CONNECTIONS": "3",
            ]))
        #expect(read.limits.engine.window == 77 && read.limits.engine.park == .seconds(60))
        #expect(read.routes.map(\.name) == ["example", "other"] && read.routes[1].connections == 3)
        #expect(read.routes[0].signingKey?.keyID == "K")
        let error = #expect(throws: ConfigError.self) {
            try configuration(
                file: folder("c.yaml"),
                over: config(["HOLDFAST_LIMITS_WINDOW": "many", "HOLDFAST_CLIENTS_SENDER_KIND": "subjct"]))
        }
        #expect(
            error?.problems.map { String($0.description.prefix { $0 != ";" }) } == [
                #"clients.sender.kind: clients[0].kind: is "subjct" (did you mean subject?)"#,
                #"limits.window: limits.window: is "many""#,
            ])
    }
}
