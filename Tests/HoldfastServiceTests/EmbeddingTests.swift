import Foundation
import Holdfast
import HoldfastGateway
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastService
import Logging
import RawClients
import Scratch
import ServiceLifecycle
import Testing

/// As an application does it: with what is public, and nothing else of the library's.
@Suite("A server inside an application", .timeLimit(.minutes(2)))
struct EmbeddingTests {
    private let folder: TemporaryFolder
    private let logger = Logger(label: "app") { _ in SwiftLogNoOpLogHandler() }

    init() throws { folder = try TemporaryFolder() }

    /// - Parameter routes: the topics of one route each, all to the same service.
    private func text(to address: String, trusting authority: String, topics: [String]) -> String {
        let routes = topics.map { topic in
            "  - {name: \(topic), topics: [\(topic)], endpoint: \"https://\(address)\", trust: \(authority)}"
        }
        return """
            journal: {path: push.journal}
            routes:
            \(routes.joined(separator: "\n"))
            gateway: {http2: {listen: "127.0.0.1:0"}}
            limits: {shutdown-limit: 2s, reconnect: {maximum: 1s}}
            """
    }

    private func server(_ text: String) throws -> HoldfastServer {
        try HoldfastServer(
            configuration: HoldfastConfiguration(yaml: text, relativeTo: folder.path), logger: logger)
    }

    /// Runs a server until `body` is done, and shuts it down as a `ServiceGroup` does.
    private func serving(_ server: HoldfastServer, _ body: () async throws -> Void) async throws {
        let group = ServiceGroup(services: [server], logger: logger)
        async let ended: Void = group.run()
        #expect(await waitUntil { server.health.isReady }, "\(server.health)")
        try await body()
        await group.triggerGracefulShutdown()
        try await ended
        #expect(!server.health.isReady)
    }

    /// Hands a notification over with curl, as to Apple.
    ///
    /// - Returns: the status of the answer.
    private func push(_ topic: String, to server: HoldfastServer) async throws -> String {
        let port = try #require(server.addresses["http2"]).port
        let answer = try await Command.run(
            "curl",
            [
                "-s", "-o", "/dev/null", "-w", "%{http_code}", "--http2-prior-knowledge", "-H", "apns-topic: \(topic)",
                "-d", #"{"aps":{"alert":"Hi"}}"#,
                "http://127.0.0.1:\(port)/3/device/00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            ])
        return answer.text
    }

    private func withMock(_ body: (MockAPNsServer) async throws -> Void) async throws {
        var configuration = MockAPNsConfiguration()
        configuration.certificateDirectory = folder("certs")
        let mock = try await MockAPNsServer.start(configuration)
        do {
            try await body(mock)
        } catch {
            try await mock.stop()
            throw error
        }
        try await mock.stop()
    }

    @Test("It takes what a sender hands over, delivers it, and takes up another configuration meanwhile")
    func serves() async throws {
        try await withMock { mock in
            func text(_ topics: [String]) -> String {
                self.text(to: mock.address, trusting: mock.certificateAuthorityFile, topics: topics)
            }
            let server = try server(text(["com.example.one"]))
            try await serving(server) {
                #expect(try await push("com.example.one", to: server) == "200")
                #expect(try await push("com.example.two", to: server) == "400")
                #expect(await waitUntil { mock.counters.accepted == 1 })

                let both = try HoldfastConfiguration(
                    yaml: text(["com.example.one", "com.example.two"]), relativeTo: folder.path)
                #expect(try await server.reload(both).isEmpty)
                #expect(try await push("com.example.two", to: server) == "200")
                #expect(await waitUntil { mock.counters.accepted == 2 })
                #expect(server.prometheusText.contains("holdfast_reloads_total{result=\"taken\"} 1\n"))
            }
        }
    }

    @Test("What can't be taken up is said, and changes nothing")
    func refusedReload() async throws {
        try await withMock { mock in
            let text = text(to: mock.address, trusting: mock.certificateAuthorityFile, topics: ["com.example.one"])
            let server = try server(text)
            try await serving(server) {
                let elsewhere = text.replacingOccurrences(of: "push.journal", with: "other.journal")
                let moved = try await server.reload(HoldfastConfiguration(yaml: elsewhere, relativeTo: folder.path))
                #expect(moved == ["journal"])
                let nowhere = try HoldfastConfiguration(yaml: "log: {interval: 1s}")
                let error = await #expect(throws: ConfigError.self) { try await server.reload(nowhere) }
                #expect(
                    error?.problems.map(\.path) == ["journal.path", "routes", "gateway"],
                    "\(String(describing: error))")
                #expect(try await push("com.example.one", to: server) == "200")
            }
        }
    }

    @Test("What it has accepted and not delivered is in the journal, and goes out after the next start")
    func restarts() async throws {
        try await withMock { mock in
            // Nobody listens there.
            let dead = text(
                to: "127.0.0.1:1", trusting: mock.certificateAuthorityFile, topics: ["com.example.one"])
            let first = try server(dead)
            try await serving(first) {
                #expect(try await push("com.example.one", to: first) == "200")
                let engine = try #require(first.engine)
                #expect(engine.status().unconfirmed == 1)
            }
            let second = try server(
                text(to: mock.address, trusting: mock.certificateAuthorityFile, topics: ["com.example.one"]))
            try await serving(second) {
                #expect(await waitUntil { mock.counters.accepted == 1 })
                #expect(await waitUntil { second.engine?.status().unconfirmed == 0 })
            }
        }
    }

    @Test("A configuration that can't serve is refused with everything that is wrong, and nothing is opened")
    func unusable() throws {
        let text = """
            journal: {path: push.journal, limt: 1G}
            routes: [{endpoint: sandbox}]
            """
        let error = #expect(throws: ConfigError.self) {
            try HoldfastConfiguration(yaml: text, named: "app.yaml", relativeTo: folder.path)
        }
        #expect(
            error?.description == """
                the configuration has 1 mistake:
                app.yaml:1:31: journal.limt: is no key; did you mean limit?
                """)
        #expect(throws: ConfigError.self) { try server("routes: [{endpoint: sandbox}]") }
        #expect(!FileManager.default.fileExists(atPath: folder("push.journal")))
    }

    @Test("Without a journal it ends with the error, and a cancelled task ends it")
    func ends() async throws {
        try folder.write("push.journal", "a file")
        let text = text(to: "127.0.0.1:1", trusting: folder("push.journal"), topics: ["com.example.one"])
            .replacingOccurrences(of: ", trust: \(folder("push.journal"))", with: "")
        let broken = try server(text)
        await #expect(throws: (any Error).self) { try await broken.run() }
        let sound = try server(text.replacingOccurrences(of: "push.journal", with: "sound.journal"))
        let run = Task { try await sound.run() }
        #expect(await waitUntil { sound.health.isReady })
        run.cancel()
        try await run.value
        #expect(!sound.health.isReady)
    }
}
