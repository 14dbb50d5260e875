import BuiltProgram
import Foundation
import HoldfastFCM
import HoldfastMockFCM
import HoldfastMocking
import HoldfastOpenSSL
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Google's own library for Python, unmodified, as a sender to the gateway, with the mock of FCM behind it.
@Suite("firebase-admin through the gateway", .serialized, .timeLimit(.minutes(3)))
struct FirebaseAdminTests {
    private static let python = BuiltProgram.root.appendingPathComponent(".build/python/bin/python")
    private static let isThere =
        Foreign.areAllRequired || FileManager.default.isExecutableFile(atPath: python.path)

    /// What the sender printed.
    private struct Told: Decodable {
        var names: [String]
        var errors: [String]
    }

    /// A gateway for senders of Google's interface, which asks for access tokens, and the mock behind its engine.
    private final class World: Sendable {
        static let project = "mock-project"

        let mock: MockFCMServer
        let journal = InMemoryJournal()
        let gateway: Gateway
        let directory: URL
        private let task: Task<Void, any Error>

        var port: Int { gateway.addresses["http2"]?.port ?? 0 }
        var ledger: URL { directory.appendingPathComponent("ledger") }

        init() async throws {
            directory = FileManager.default.temporaryDirectory.appendingPathComponent("firebase-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            var settings = MockFCMConfiguration()
            settings.ledgerPath = directory.appendingPathComponent("ledger").path
            settings.rejections = ["gone": "UNREGISTERED"]
            mock = try await MockFCMServer.start(settings)
            var fcm = FCMConnector.Configuration(serviceAccount: try ServiceAccount(file: mock.serviceAccountFile))
            fcm.endpoint = try FCMEndpoint("https://\(mock.address)")
            fcm.trust = .file(mock.certificateAuthorityFile)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let engine = try PushEngine(
                journal: journal,
                routes: [Route(name: "fcm", connector: try FCMConnector(fcm), topics: [Self.project])],
                configuration: EngineConfiguration(), logger: logger)
            var http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
            http2.tls = ServerTLS(identity: try Self.identity(directory))
            http2.requiresCredentials = true
            http2.serviceAccounts = .bytes(try Self.register(directory, mock))
            var configuration = GatewayConfiguration()
            configuration.http2 = http2
            let gateway = try await Gateway(configuration, engine: engine, logger: logger)
            self.gateway = gateway
            task = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await engine.run() }
                    group.addTask { try await gateway.run() }
                    try await group.waitForAll()
                }
            }
            try writeOwnAccount()
        }

        func stop() async throws {
            task.cancel()
            try await task.value
            try await mock.stop()
            try FileManager.default.removeItem(at: directory)
        }

        /// A certificate that stands for Google's names, too, and whose authority is in `ca.pem`.
        private static func identity(_ directory: URL) throws -> ClientCertificate {
            let authority = try CertificateAuthority(commonName: "Test authority")
            let (certificate, key) = try authority.issue(
                commonName: "gateway",
                names: [.dns("localhost"), .dns("fcm.googleapis.com"), .dns("oauth2.googleapis.com")])
            try Data(try authority.certificate.pem()).write(to: directory.appendingPathComponent("ca.pem"))
            return .pem(certificates: .bytes(try certificate.pem()), key: .bytes(try key.pem()))
        }

        private static let ownKey = Monitor<RS256PrivateKey?>(nil)

        /// Knows an account of the gateway's own, and the key of one of Google's: the mock's.
        private static func register(_ directory: URL, _ mock: MockFCMServer) throws -> [UInt8] {
            let key = try RS256PrivateKey()
            ownKey.withLock { $0 = key }
            let google = try ServiceAccount(file: mock.serviceAccountFile)
            var register = try ServiceAccountRegister()
            register.accounts = [
                .init(
                    clientEmail: "newsletter@holdfast.invalid", keyID: "own",
                    publicKey: String(decoding: try key.publicKey.pem(), as: UTF8.self), projects: [project]),
                .init(
                    clientEmail: google.clientEmail, keyID: google.keyID,
                    publicKey: String(decoding: try google.publicKeyPEM(), as: UTF8.self), projects: [project]),
            ]
            return try register.encoded()
        }

        /// Our own account's file, with our token endpoint; and Google's, which says Google's.
        private func writeOwnAccount() throws {
            let key = try #require(Self.ownKey.withLock { $0 })
            let own: [String: String] = [
                "type": "service_account", "project_id": Self.project, "private_key_id": "own",
                "private_key": String(decoding: try key.pem(), as: UTF8.self), "client_id": "1",
                "client_email": "newsletter@holdfast.invalid", "token_uri": "https://localhost:\(port)/token",
            ]
            try JSONSerialization.data(withJSONObject: own).write(to: file("own"))
            let mocks = try Data(contentsOf: URL(fileURLWithPath: mock.serviceAccountFile))
            var google = try #require(try JSONSerialization.jsonObject(with: mocks) as? [String: String])
            google["token_uri"] = "https://oauth2.googleapis.com/token"
            try JSONSerialization.data(withJSONObject: google).write(to: file("google"))
        }

        private func file(_ account: String) -> URL { directory.appendingPathComponent("\(account).json") }

        func send(_ account: String, _ call: String, first: Int, count: Int, token: String? = nil) async throws -> Told
        {
            let script = BuiltProgram.root.appendingPathComponent("Tests/InteropTests/clients/firebase_sender.py")
            let authority = directory.appendingPathComponent("ca.pem").path
            let outcome = try await BuiltProgram.run(
                FirebaseAdminTests.python,
                [script.path, file(account).path, "\(port)", call, "\(first)", "\(count)"] + [token].compactMap(\.self),
                environment: ["REQUESTS_CA_BUNDLE": authority, "SSL_CERT_FILE": authority])
            #expect(outcome.status == 0, "\(outcome.text)")
            let line = try #require(
                outcome.text.split(separator: "\n").last { $0.hasPrefix("{") }, "\(outcome.text)")
            return try JSONDecoder().decode(Told.self, from: Data(line.utf8))
        }

        /// The ids in the mock's ledger.
        var sent: [String] {
            let text = (try? String(contentsOf: ledger, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { line in
                (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])?["id"]
            }
        }
    }

    private func withWorld(_ body: (World) async throws -> Void) async throws {
        let world = try await World()
        do {
            try await body(world)
        } catch {
            try await world.stop()
            throw error
        }
        try await world.stop()
    }

    @Test(
        "Each message that was told taken goes out once, by each call and with either account",
        .enabled(if: isThere, "Scripts/bootstrap --tests was not run"))
    func once() async throws {
        try await withWorld { world in
            var first = 0
            var told: [String] = []
            for account in ["own", "google"] {
                for (call, count) in [("send", 20), ("send_each", 120), ("send_each_async", 700)] {
                    let answer = try await world.send(account, call, first: first, count: count)
                    #expect(
                        answer.errors.isEmpty && answer.names.count == count, "\(account) \(call): \(answer.errors)")
                    told += answer.names
                    first += count
                }
            }
            #expect(Set(told).count == first && told.allSatisfy { $0.hasPrefix("projects/mock-project/messages/") })
            let total = first
            #expect(await Patience(.seconds(60)).wait { world.sent.count >= total })
            #expect(Set(world.sent) == Set((0..<total).map { "m-\($0)" }) && world.sent.count == total)
        }
    }

    @Test(
        "UnregisteredError comes from the blacklist, and QuotaExceededError from a full journal",
        .enabled(if: isThere, "Scripts/bootstrap --tests was not run"))
    func errors() async throws {
        try await withWorld { world in
            let first = try await world.send("own", "send", first: 0, count: 1, token: "gone")
            #expect(first.names.count == 1)
            #expect(await Patience(.seconds(20)).wait { world.journal.entries.isEmpty })
            for call in ["send", "send_each", "send_each_async"] {
                let next = try await world.send("own", call, first: 1, count: 1, token: "gone")
                #expect(next.errors == ["UnregisteredError"], "\(call): \(next)")
            }
            let checked = try await world.send("own", "dry_run", first: 2, count: 1)
            #expect(checked.names == ["projects/mock-project/messages/fake_message_id"])
            world.journal.limitEntries(to: 0)
            for call in ["send", "send_each", "send_each_async"] {
                let full = try await world.send("own", call, first: 3, count: 1)
                #expect(full.errors == ["QuotaExceededError"], "\(call): \(full)")
            }
            #expect(world.sent.isEmpty && world.mock.counters.rejected == ["UNREGISTERED": 1])
        }
    }
}
