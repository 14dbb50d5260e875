import Foundation
import HoldfastOpenSSL
import HoldfastTesting
import NIOSSL
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Senders that show certificates: whose is good, for what, and until when.
@Suite("Who may submit by certificate", .timeLimit(.minutes(1)))
struct ClientTableTests {
    /// A certificate with its key.
    private typealias Issued = (certificate: Certificate, key: ES256PrivateKey)

    private let authority: TestAuthority
    private let clients: TestAuthority
    private static let other = "com.example.other"

    init() throws {
        authority = try TestAuthority()
        clients = try TestAuthority()
    }

    private func issue(_ name: String, usage: String = "clientAuth", ends: Duration = .seconds(86_400)) throws -> Issued
    {
        try clients.authority.issue(
            commonName: name, names: [.dns("\(name).Senders.Example")], lifetime: ends, usage: usage)
    }

    private func withWorld(
        _ change: @escaping (inout ServerTLS) throws -> Void,
        _ body: (HTTP2World) async throws -> Void
    ) async throws {
        try await withHTTP2World(
            topics: [[HTTP2World.topic, Self.other]],
            Change { http2 in
                http2.requiresCredentials = true
                var tls = ServerTLS(identity: try authority.identity(), clientAuthorities: try clients.trusted)
                try change(&tls)
                http2.tls = tls
            }, body)
    }

    private func connect(_ world: HTTP2World, as issued: Issued) async throws -> HTTP2Client {
        var tls = try authority.client()
        tls.certificateChain = [
            .certificate(try NIOSSLCertificate(bytes: issued.certificate.pem(), format: .pem))
        ]
        tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: issued.key.pem(), format: .pem))
        return try await HTTP2Client.connect(port: world.port, tls: tls)
    }

    /// What a client is told that comes with this certificate; nil where the handshake fails.
    private func answer(_ world: HTTP2World, _ issued: Issued, topic: String = HTTP2World.topic) async throws -> String?
    {
        let client = try await connect(world, as: issued)
        defer { Task { try await client.close() } }
        guard let answer = try? await client.send(HTTP2World.request(topic: topic)) else { return nil }
        return answer.reason ?? "\(answer.status)"
    }

    private func expect(
        _ world: HTTP2World, _ issued: Issued, _ expected: String?, topic: String = HTTP2World.topic,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let told = try await answer(world, issued, topic: topic)
        #expect(told == expected, sourceLocation: sourceLocation)
    }

    /// A file that a test writes anew.
    private func withFile<R>(_ bytes: [UInt8], _ body: (URL) async throws -> R) async throws -> R {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString).crl")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file)
    }

    @Test("The table says by common name, host name or subject who may submit, and for which topics")
    func table() async throws {
        let (orders, news, third) = (try issue("orders"), try issue("news"), try issue("third"))
        try await withWorld {
            $0.clientSubjects = [
                ClientSubject("orders", topics: [HTTP2World.topic]), ClientSubject("NEWS.senders.example"),
                ClientSubject("CN=nobody"),
            ]
        } _: { world in
            try await expect(world, orders, "200")
            try await expect(world, orders, "TopicDisallowed", topic: Self.other)
            try await expect(world, news, "200")
            try await expect(world, news, "200", topic: Self.other)
            try await expect(world, third, nil)
            try await eventually("it is counted") { world.figures.faults == ["tls": 1] }
            #expect(world.journal.entries.count == 3)
        }
        try await withWorld {
            $0.clientSubjects = [ClientSubject("CN=third")]
        } _: { world in
            try await expect(world, third, "200")
            try await expect(world, orders, nil)
        }
    }

    @Test("The table says how many a second all connections of a sender may bring, and others are not held up by them")
    func rate() async throws {
        let (orders, news) = (try issue("orders"), try issue("news"))
        try await withWorld {
            $0.clientSubjects = [
                ClientSubject("orders", rate: RateLimit(perSecond: 0.01, burst: 3)), ClientSubject("news"),
            ]
        } _: { world in
            var told: [String?] = []
            for _ in 0..<2 {
                let client = try await connect(world, as: orders)
                for _ in 0..<2 {
                    let answer = try await client.send(HTTP2World.request())
                    told.append(answer.reason ?? "\(answer.status)")
                    if answer.status == 429 { #expect(Int(answer.headers["retry-after"] ?? "") ?? 0 > 50) }
                }
            }
            #expect(told == ["200", "200", "200", "TooManyRequests"])
            for _ in 0..<5 { try await expect(world, news, "200") }
        }
    }

    @Test("A certificate for servers alone, one that has expired, and one that is not good yet open nothing")
    func notGood() async throws {
        let server = try issue("server", usage: "serverAuth")
        let expired = try issue("expired", ends: .seconds(-3600))
        let future = try clients.authority.issue(
            commonName: "future", names: [.dns("future.example")], start: .seconds(3600), usage: "clientAuth")
        try await withWorld { _ in
        } _: { world in
            for issued in [server, expired, future] { try await expect(world, issued, nil) }
            try await eventually("each is counted") { world.figures.faults == ["tls": 3] }
            try await expect(world, try issue("good"), "200")
        }
    }

    @Test("Who is revoked while it is connected is answered and ended, and does not come back; others go on")
    func revoked() async throws {
        let (orders, news) = (try issue("orders"), try issue("news"))
        try await withFile(try clients.authority.revoke([]).pem()) { file in
            try await withWorld {
                $0.clientRevocations = .file(file.path)
                $0.clientRevocationsInterval = .milliseconds(20)
            } _: { world in
                let bad = try await connect(world, as: orders)
                let good = try await connect(world, as: news)
                #expect(try await bad.send(HTTP2World.request()).status == 200)
                #expect(try await good.send(HTTP2World.request()).status == 200)
                try Data(try clients.authority.revoke([orders.certificate]).pem()).write(to: file, options: .atomic)
                try await eventually("it is told to go") { try await !bad.goAways.isEmpty }
                try await eventually("it is closed") { bad.isClosed }
                #expect(world.figures.faults == ["revoked": 1])
                try await expect(world, orders, nil)
                #expect(try await good.send(HTTP2World.request()).status == 200)

                try Data(try clients.authority.revoke([]).pem()).write(to: file, options: .atomic)
            }
        }
    }

    @Test("A session of TLS is not resumed once its certificate is revoked, and is until then")
    func resumption() async throws {
        let orders = try issue("orders")
        try await withFile(try clients.authority.revoke([]).pem()) { file in
            let shown = file.appendingPathExtension("pem")
            let session = file.appendingPathExtension("session")
            defer { for one in [shown, session] { try? FileManager.default.removeItem(at: one) } }
            try Data(try orders.certificate.pem() + orders.key.pem()).write(to: shown)
            try await withWorld {
                $0.clientRevocations = .file(file.path)
                $0.clientRevocationsInterval = .milliseconds(20)
            } _: { world in
                func connect(_ arguments: [String]) throws -> String {
                    let command = Process()
                    command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                    // Of 1.2 the ticket comes in the handshake, not some time later.
                    command.arguments =
                        ["openssl", "s_client", "-connect", "127.0.0.1:\(world.port)", "-tls1_2", "-alpn", "h2"]
                        + arguments
                    let output = Pipe()
                    command.standardInput = FileHandle.nullDevice
                    command.standardOutput = output
                    command.standardError = FileHandle.nullDevice
                    try command.run()
                    let told = try output.fileHandleForReading.readToEnd() ?? Data()
                    command.waitUntilExit()
                    return String(decoding: told, as: UTF8.self)
                }
                func isResumed() throws -> Bool {
                    let told = try connect(["-sess_in", session.path])
                    try #require(told.contains("Cipher is"))
                    return told.contains("Reused, ")
                }
                _ = try connect(["-cert", shown.path, "-key", shown.path, "-sess_out", session.path])
                #expect(try isResumed())
                try Data(try clients.authority.revoke([orders.certificate]).pem()).write(to: file, options: .atomic)
                try await eventually("it is not resumed any more") { try !isResumed() }
            }
        }
    }

    @Test("A revocation list that can't be used is told once, and the one before holds on until there is a good one")
    func damagedList() async throws {
        let (orders, news) = (try issue("orders"), try issue("news"))
        try await withFile(try clients.authority.revoke([orders.certificate]).pem()) { file in
            var tls = ServerTLS(identity: try authority.identity(), clientAuthorities: try clients.trusted)
            tls.clientRevocations = .file(file.path)
            let vault = try ServerTLSVault(tls, protocols: [])
            func isGood(_ issued: Issued) -> Bool { (try? vault.judge?.judge([issued.certificate])) != nil }
            func told() -> [WatchedFiles.Look] { (0..<4).map { _ in vault.lookAtRevocations() } }

            #expect(told() == [.unchanged, .unchanged, .unchanged, .unchanged])
            try Data("no list".utf8).write(to: file, options: .atomic)
            let looks = told()
            guard case .failed(let words) = looks[1] else { return #expect(looks == []) }
            #expect(words.contains(file.path))
            #expect(looks == [.unchanged, .failed(words), .unchanged, .unchanged])
            #expect(!isGood(orders) && isGood(news))
            try Data(try clients.authority.revoke([news.certificate]).pem()).write(to: file, options: .atomic)
            #expect(told() == [.taken, .unchanged, .unchanged, .unchanged])
            #expect(isGood(orders) && !isGood(news))
        }
    }

    @Test("Where revocation lists are asked for, an authority without one, or with one out of date, lets nobody in")
    func noList() async throws {
        let orders = try issue("orders")
        for list in [
            try TestAuthority().authority.revoke([]), try clients.authority.revoke([], lifetime: .seconds(-60)),
        ] {
            try await withWorld {
                $0.clientRevocations = .bytes(try list.pem())
            } _: { world in
                try await expect(world, orders, nil)
            }
        }
        await #expect(throws: GatewayError.self) {
            try await withWorld {
                $0.clientRevocations = .bytes(Array("no list".utf8))
            } _: { _ in
            }
        }
    }

    @Test("A certificate that ends ends its connections")
    func ends() async throws {
        let brief = try issue("brief", ends: .seconds(2))
        try await withWorld { _ in
        } _: { world in
            let client = try await connect(world, as: brief)
            #expect(try await client.send(HTTP2World.request()).status == 200)
            try await eventually("it is closed") { client.isClosed }
            #expect(world.figures.faults == ["revoked": 1])
        }
    }

    @Test("Another table ends those who are not in it, in order, and holds for those who go on")
    func reload() async throws {
        let (orders, news) = (try issue("orders"), try issue("news"))
        let start = ServerTLS(identity: try authority.identity(), clientAuthorities: try clients.trusted)
        try await withWorld {
            $0 = start
        } _: { world in
            let goes = try await connect(world, as: orders)
            let stays = try await connect(world, as: news)
            #expect(try await goes.send(HTTP2World.request()).status == 200)
            #expect(try await stays.send(HTTP2World.request(topic: Self.other)).status == 200)

            var configuration = GatewayConfiguration()
            var tls = start
            tls.clientSubjects = [ClientSubject("news", topics: [HTTP2World.topic])]
            configuration.http2 = HTTP2IngressConfiguration(
                listen: ListenAddress(host: "127.0.0.1", port: world.port), tls: tls)
            configuration.http2?.requiresCredentials = true
            try world.gateway.reload(configuration)

            try await eventually("it is closed") { goes.isClosed }
            #expect(try await goes.goAways.count == 1)
            #expect(try await stays.send(HTTP2World.request()).status == 200)
            #expect(try await stays.send(HTTP2World.request(topic: Self.other)).reason == "TopicDisallowed")
        }
    }
}
