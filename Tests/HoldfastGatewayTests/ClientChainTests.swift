import Foundation
import HoldfastOpenSSL
import HoldfastTesting
import NIOSSL
import Testing

@testable import Holdfast
@testable import HoldfastGateway

/// Senders whose certificate is signed by an authority below the listener's own: what becomes of that one, and of the lists
/// of both.
@Suite("Authorities above a sender", .timeLimit(.minutes(1)))
struct ClientChainTests {
    private let server: TestAuthority
    private let root: CertificateAuthority
    private let below: CertificateAuthority

    init() throws {
        server = try TestAuthority()
        root = try CertificateAuthority(commonName: "Root", depth: 1)
        below = try root.subordinate(commonName: "Below")
    }

    private func lists(_ revoked: [Certificate] = [], lifetime: Duration = .seconds(86_400)) throws -> [UInt8] {
        try root.revoke(revoked, lifetime: lifetime).pem() + below.revoke([]).pem()
    }

    private func settings(_ lists: CredentialSource?) throws -> ServerTLS {
        var tls = ServerTLS(
            identity: try server.identity(), clientAuthorities: .pem(try root.certificate.pem()))
        tls.clientRevocations = lists
        tls.clientRevocationsInterval = .milliseconds(20)
        return tls
    }

    private func withWorld(_ tls: ServerTLS, _ body: (HTTP2World) async throws -> Void) async throws {
        try await withHTTP2World(
            Change { http2 in
                http2.requiresCredentials = true
                http2.tls = tls
            }, body)
    }

    private func connect(_ world: HTTP2World, below authority: CertificateAuthority) async throws -> HTTP2Client {
        let issued = try authority.issue(commonName: "sender", names: [.dns("sender.example")])
        var tls = try server.client()
        tls.certificateChain = try [issued.certificate, authority.certificate].map {
            .certificate(try NIOSSLCertificate(bytes: $0.pem(), format: .pem))
        }
        tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: issued.key.pem(), format: .pem))
        return try await HTTP2Client.connect(port: world.port, tls: tls)
    }

    /// What a client of this authority is told; nil where the handshake fails.
    private func status(_ world: HTTP2World, below authority: CertificateAuthority) async throws -> Int? {
        let client = try await connect(world, below: authority)
        defer { Task { try await client.close() } }
        guard let answer = try? await client.send(HTTP2World.request()) else { return nil }
        return answer.status
    }

    @Test("An authority that its root takes back loses its clients, those that are connected as well")
    func takenBack() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString).crl")
        try Data(try lists()).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withWorld(try settings(.file(file.path))) { world in
            let client = try await connect(world, below: below)
            #expect(try await client.send(HTTP2World.request()).status == 200)
            try Data(try lists([below.certificate])).write(to: file, options: .atomic)
            try await eventually("it is closed") { client.isClosed }
            #expect(world.figures.faults == ["revoked": 1])
            #expect(try await status(world, below: below) == nil)
        }
    }

    @Test("A list of the root that runs out ends the connections of those below it, and lets none of them in")
    func listRunsOut() async throws {
        try await withWorld(try settings(.bytes(try lists(lifetime: .seconds(3))))) { world in
            let client = try await connect(world, below: below)
            #expect(try await client.send(HTTP2World.request()).status == 200)
            try await eventually("it is closed") { client.isClosed }
            #expect(world.figures.faults == ["revoked": 1])
            #expect(try await status(world, below: below) == nil)
        }
    }

    @Test("An authority that expires ends the connections of its clients")
    func authorityExpires() async throws {
        let brief = try root.subordinate(commonName: "Brief", lifetime: .seconds(3))
        try await withWorld(try settings(nil)) { world in
            let client = try await connect(world, below: brief)
            #expect(try await client.send(HTTP2World.request()).status == 200)
            try await eventually("it is closed") { client.isClosed }
            #expect(world.figures.faults == ["revoked": 1])
        }
    }

    @Test("Who resumes a session is judged by all authorities above it and their lists, although it shows none of them")
    func resumption() async throws {
        let sender = try below.issue(commonName: "sender", names: [.dns("sender.example")]).certificate
        let brief = try root.subordinate(commonName: "Brief", lifetime: .seconds(2))
        let ofBrief = try brief.issue(commonName: "sender", names: [.dns("sender.example")]).certificate
        func isGood(_ judge: ClientJudge?, _ chain: [Certificate], resumed: Bool) -> Bool {
            (try? judge?.judge(chain, isResumed: resumed)) != nil
        }
        let plain = try ServerTLSVault(settings(nil), protocols: []).judge
        #expect(!isGood(plain, [sender], resumed: true))
        #expect(isGood(plain, [sender, below.certificate], resumed: false))
        #expect(isGood(plain, [sender], resumed: true) && !isGood(plain, [sender], resumed: false))
        #expect(isGood(plain, [ofBrief, brief.certificate], resumed: false))

        let listed = try ServerTLSVault(settings(.bytes(lists(lifetime: .seconds(2)))), protocols: []).judge
        #expect(isGood(listed, [sender, below.certificate], resumed: false))
        #expect(isGood(listed, [sender], resumed: true))
        try await eventually("the list has run out") { !isGood(listed, [sender], resumed: true) }
        try await eventually("the authority has expired") { !isGood(plain, [ofBrief], resumed: true) }
        #expect(isGood(plain, [sender], resumed: true))
    }

    @Test("A list that is out of date is warned of when it is read, unless a newer one of its authority is beside it")
    func warnings() throws {
        let old = try root.revoke([], lifetime: .seconds(-60)).pem()
        let told = try settings(.bytes(old + below.revoke([]).pem())).warnings()
        #expect(told.count == 1 && told[0].contains("CN=Root"), "\(told)")
        #expect(try settings(.bytes(old + lists())).warnings() == [])
        #expect(try settings(nil).warnings() == [])
    }

    @Test("Only so many authorities are remembered, the newest, each once")
    func remembered() throws {
        var few = RememberedCertificates(limit: 2)
        let all = [root, below, try root.subordinate(commonName: "Third")].map(\.certificate)
        for one in [all[0], all[1], all[0], all[2], all[2]] { few.add(one, try one.der()) }
        #expect(few.all.map(\.subject) == ["CN=Below", "CN=Third"])
    }
}
