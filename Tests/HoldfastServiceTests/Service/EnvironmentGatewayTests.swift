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

/// A gateway before two services, one of each environment, and curl before the gateway.
@Suite("One topic in two environments, through the gateway", .timeLimit(.minutes(2)))
struct EnvironmentGatewayTests {
    private static let topic = "com.example.app"

    private let folder: TemporaryFolder
    private let logger = Logger(label: "app") { _ in SwiftLogNoOpLogHandler() }

    init() throws { folder = try TemporaryFolder() }

    private static func token(_ number: Int) -> String { String(format: "%064x", number) }

    /// Two services, of which each has the tokens that the other has not.
    private struct Services {
        let production: MockAPNsServer
        let sandbox: MockAPNsServer
        /// The tokens that each has taken, in order.
        let taken: [PushEnvironment: Taken]

        final class Taken: Sendable {
            private let tokens = Monitor<[String]>([])
            var all: [String] { tokens.withLock { $0 } }
            func add(_ new: [String]) { tokens.withLock { $0 += new } }
        }
    }

    private func withServices(
        sandboxTokens: Set<Int> = [], deadTokens: Set<Int> = [], _ body: (Services) async throws -> Void
    ) async throws {
        func start(_ name: String, rejecting: Set<Int>, _ taken: Services.Taken) async throws -> MockAPNsServer {
            var configuration = MockAPNsConfiguration()
            configuration.certificateDirectory = folder(name)
            configuration.rejections = Dictionary(
                uniqueKeysWithValues: rejecting.map { (Self.token($0), "BadDeviceToken" as MockRejection) })
            configuration.observer = { exchanges in
                taken.add(exchanges.filter { $0.status == 200 }.compactMap(\.request.token))
            }
            return try await MockAPNsServer.start(configuration)
        }
        let taken = [PushEnvironment.production: Services.Taken(), .sandbox: Services.Taken()]
        let production = try await start(
            "production", rejecting: sandboxTokens.union(deadTokens), taken[.production]!)
        let sandbox = try await start(
            "sandbox", rejecting: Set((1...200).filter { $0 <= 100 && !sandboxTokens.contains($0) }).union(deadTokens),
            taken[.sandbox]!)
        let services = Services(production: production, sandbox: sandbox, taken: taken)
        let result = await Result { try await body(services) }
        try await production.stop()
        try await sandbox.stop()
        try result.get()
    }

    private func text(_ services: Services, _ more: String = "", gateway: String = "") -> String {
        func route(_ name: String, _ mock: MockAPNsServer) -> String {
            "  - {name: \(name), environment: \(name), topics: [\(Self.topic)], other-environment: try, "
                + "endpoint: \"https://\(mock.address)\", trust: \(mock.certificateAuthorityFile)}"
        }
        return """
            journal: {path: push.journal}
            routes:
            \(route("production", services.production))
            \(route("sandbox", services.sandbox))
            gateway: {http2: {listen: "127.0.0.1:0"\(gateway)}}
            limits: {shutdown-limit: 2s, suspects: {hold: 100ms}\(more)}
            """
    }

    private func serving(_ text: String, _ body: (HoldfastServer) async throws -> Void) async throws {
        let server = try HoldfastServer(
            configuration: HoldfastConfiguration(yaml: text, relativeTo: folder.path), logger: logger)
        let group = ServiceGroup(services: [server], logger: logger)
        async let ended: Void = group.run()
        #expect(await waitUntil { server.health.isReady }, "\(server.health)")
        try await body(server)
        await group.triggerGracefulShutdown()
        try await ended
    }

    /// - Parameter host: that curl believes it has connected to.
    /// - Returns: status and body.
    private func push(
        _ number: Int, to server: HoldfastServer, host: String = "127.0.0.1", _ headers: [String] = []
    ) async throws -> String {
        let port = try #require(server.addresses["http2"]).port
        let fields = (["apns-topic: \(Self.topic)"] + headers).flatMap { ["-H", $0] }
        return try await Command.run(
            "curl",
            ["-s", "-w", " %{http_code}", "--http2-prior-knowledge", "--resolve", "\(host):\(port):127.0.0.1"] + fields
                + ["-d", #"{"aps":{"alert":"Hi"}}"#, "http://\(host):\(port)/3/device/\(Self.token(number))"]
        ).text.trimmingCharacters(in: .whitespaces)
    }

    @Test("The header goes before the host's name, and that before the default; what is no environment is told")
    func chosen() async throws {
        try await withServices(sandboxTokens: Set(1...100)) { services in
            let hosts = ", hosts: {sandbox: [sandbox.push.example.com], production: [push.example.com]}"
            try await serving(text(services, gateway: hosts)) { server in
                let cases: [(host: String, header: String?, environment: PushEnvironment)] = [
                    ("127.0.0.1", nil, .production), ("127.0.0.1", "sandbox", .sandbox),
                    ("sandbox.push.example.com", nil, .sandbox), ("SANDBOX.push.example.com", nil, .sandbox),
                    ("sandbox.push.example.com", "production", .production), ("push.example.com", nil, .production),
                    ("push.example.com", "sandbox", .sandbox), ("api.sandbox.push.apple.com", nil, .sandbox),
                    ("api.development.push.apple.com", nil, .sandbox), ("api.push.apple.com", nil, .production),
                ]
                for (index, (host, header, environment)) in cases.enumerated() {
                    let number = 101 + index
                    let headers = header.map { ["holdfast-environment: \($0)"] } ?? []
                    #expect(try await push(number, to: server, host: host, headers) == "200")
                    let taken = services.taken[environment]!
                    #expect(await waitUntil { taken.all.contains(Self.token(number)) }, "\(host)")
                }
                #expect(services.production.counters.accepted + services.sandbox.counters.accepted == cases.count)
                let refused = try await push(150, to: server, ["holdfast-environment: staging"])
                #expect(refused == #"{"reason":"BadEnvironment"} 400"#)
            }
        }
    }

    @Test("An environment that no route serves is refused; Apple's own names only choose between routes")
    func unserved() async throws {
        try await withServices { services in
            let both = text(services)
            let one = both.split(separator: "\n").filter { !$0.contains("name: sandbox") }.joined(separator: "\n")
                .replacingOccurrences(of: "other-environment: try, ", with: "")
            try await serving(one) { server in
                let refused = try await push(101, to: server, ["holdfast-environment: sandbox"])
                #expect(refused == #"{"reason":"EnvironmentNotServed"} 400"#)
                #expect(try await push(102, to: server, host: "api.sandbox.push.apple.com") == "200")
                #expect(await waitUntil { services.taken[.production]!.all == [Self.token(102)] })
            }
        }
    }

    @Test("Debug and App Store builds need one gateway: each token goes where it is good, and that is remembered")
    func mixed() async throws {
        let (sandboxTokens, deadTokens) = (Set(1...10), Set(11...13))
        try await withServices(sandboxTokens: sandboxTokens, deadTokens: deadTokens) { services in
            try await serving(text(services)) { server in
                let engine = try #require(server.engine)
                // Both have taken others.
                for number in 101...140 { #expect(try await push(number, to: server) == "200") }
                for number in 141...150 {
                    #expect(try await push(number, to: server, ["holdfast-environment: sandbox"]) == "200")
                }
                #expect(await waitUntil { engine.status().unconfirmed == 0 })
                // Bad ones among good ones: many in a row would trip the breaker.
                for number in 1...20 {
                    #expect(try await push(number, to: server) == "200")
                    for good in 0..<3 { #expect(try await push(151 + number * 3 + good, to: server) == "200") }
                }
                #expect(await waitUntil(limit: .seconds(60)) { engine.status().unconfirmed == 0 })
                #expect(engine.status().rejectedTotal == 3)
                #expect(
                    Set(services.taken[.sandbox]!.all)
                        == Set((sandboxTokens.union(141...150)).map { Self.token($0) }))
                #expect(
                    Set(services.taken[.production]!.all)
                        == Set(Set(101...140).union(14...20).union(154...213).map { Self.token($0) }))
                // From now on each goes where it belongs at once.
                let asked = services.production.counters.requests
                for number in sandboxTokens { #expect(try await push(number, to: server) == "200") }
                #expect(await waitUntil { engine.status().unconfirmed == 0 })
                #expect(services.production.counters.requests == asked)
                #expect(services.sandbox.counters.accepted == 30)
                for number in deadTokens {
                    #expect(try await push(number, to: server) == #"{"reason":"BadDeviceToken"} 400"#)
                }
            }
        }
    }
}

extension Result where Failure == any Error {
    /// The result of a closure that waits.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
