import Foundation
import HoldfastOpenSSL
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("Google's interface: who may send", .timeLimit(.minutes(1)))
struct GoogleAccessTests {
    private let sender: TestSender

    init() throws { sender = try TestSender() }

    private func guarded(_ senders: [TestSender]) throws -> Change<HTTP2IngressConfiguration> {
        let register = try TestSender.register(senders)
        return Change {
            $0.requiresCredentials = true
            $0.serviceAccounts = .bytes(register)
        }
    }

    @Test("An assertion gets an access token, with which messages to the account's projects are taken")
    func grants() async throws {
        try await Google.world(guarded([sender])) { world in
            let client = try await world.client()
            let answer = try await client.send(TestSender.tokenRequest, body: sender.form())
            let body = try #require(GoogleAnswer.object(answer.body))
            #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
            #expect(body["token_type"] as? String == "Bearer" && body["expires_in"] as? Int == 3599)
            let token = try #require(body["access_token"] as? String)
            let sent = try await client.send(
                Google.request([("authorization", "Bearer \(token)")]), body: Google.message())
            #expect(sent.status == 200 && world.journal.entries.count == 1)
            let other = try await client.send(
                Google.request([("authorization", "Bearer \(token)")], project: "another-project"),
                body: Google.message())
            #expect(other.status == 403 && GoogleAnswer(other).status == "PERMISSION_DENIED")
            #expect(world.journal.entries.count == 1)
        }
    }

    @Test("Our own token_uri is an audience, too; another one is none")
    func audience() async throws {
        try await Google.world(guarded([sender])) { world in
            let client = try await world.client()
            for (audience, status) in [(sender.account.tokenURI ?? "", 200), ("https://elsewhere.test/token", 400)] {
                let answer = try await client.send(
                    TestSender.tokenRequest, body: try sender.form(["aud": audience]))
                #expect(answer.status == status)
            }
        }
    }

    @Test("An assertion with anything wrong gets no token, in the words of RFC 6749")
    func refusals() async throws {
        let now = Int(Date().timeIntervalSince1970)
        let stranger = try TestSender("stranger")
        let forms: [(form: [UInt8], error: String)] = [
            (try stranger.form(), "invalid_grant"),
            (try sender.form(signer: stranger.key), "invalid_grant"),
            (try sender.form(algorithm: "HS256"), "invalid_grant"),
            (try sender.form(algorithm: "none"), "invalid_grant"),
            (try sender.form(["exp": now - 61]), "invalid_grant"),
            (try sender.form(["iat": now + 120, "exp": now + 3000]), "invalid_grant"),
            (try sender.form(["iat": now, "exp": now + 3601]), "invalid_grant"),
            (try sender.form(["iat": Int64.min, "exp": Int64.max]), "invalid_grant"),
            (try sender.form(["exp": "later"]), "invalid_grant"),
            (try sender.form(["scope": "openid"]), "invalid_scope"),
            (Array("grant_type=refresh_token".utf8), "unsupported_grant_type"),
            (Array("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer".utf8), "invalid_request"),
            (Array("assertion=%zz&&=".utf8), "unsupported_grant_type"),
        ]
        try await Google.world(guarded([sender])) { world in
            let client = try await world.client()
            for (form, error) in forms {
                let answer = try await client.send(TestSender.tokenRequest, body: form)
                let body = GoogleAnswer.object(answer.body)
                #expect(answer.status == 400 && body?["error"] as? String == error, "\(answer)")
                let description = body?["error_description"] as? String
                #expect(description?.isEmpty == false)
            }
            var get = TestSender.tokenRequest
            get[0].1 = "GET"
            #expect(try await client.send(get, body: []).status == 405)
        }
    }

    @Test("So many assertions on one connection are verified, and no more until a while later")
    func limit() async throws {
        try await Google.world(guarded([sender])) { world in
            let client = try await world.client()
            let form = try sender.form(["aud": "https://elsewhere.test/token"])
            let answers = try await client.sendAll((0..<40).map { _ in (TestSender.tokenRequest, form) })
            let statuses = try answers.map { try $0.get().status }
            #expect(statuses.count { $0 == 400 } == 32 && statuses.count { $0 == 429 } == 8)
        }
    }

    @Test("Without an access token, with a foreign one, and with one that was changed, it is 401")
    func unauthenticated() async throws {
        try await Google.world(guarded([sender])) { world in
            let client = try await world.client()
            let token = try await sender.token(client)
            var changed = Array(token.utf8)
            changed[20] = changed[20] == 0x41 ? 0x42 : 0x41
            let wrong: [String?] = [
                nil, "Bearer ya29.a0AfB_foreign", "Bearer \(String(decoding: changed, as: UTF8.self))",
                "Basic \(token)", "Bearer \(token)AAAA", "Bearer holdfast.open", "Bearer holdfast.",
            ]
            for value in wrong {
                let answer = try await client.send(
                    Google.request(value.map { [("authorization", $0)] } ?? []), body: Google.message())
                #expect(answer.status == 401 && GoogleAnswer(answer).status == "UNAUTHENTICATED", "\(answer)")
                #expect(GoogleAnswer(answer).errorCode == nil)
            }
            #expect(world.journal.entries.isEmpty)
        }
    }

    @Test("A token is good for an hour on every host with the register, and on no other")
    func token() throws {
        let register = try ServiceAccountRegister()
        let bytes = try TestSender.register([sender], secret: register)
        let accounts = try SenderAccounts(.bytes(bytes))
        let now = EngineClock.system.wall()
        let form = try TokenForm(try sender.form()[...])
        let granted = try accounts.grant(form.assertion, at: now)
        #expect(granted.account == sender.account)
        let verdict = try SenderAccounts(.bytes(bytes)).verdict(on: granted.token)
        #expect(verdict?.account == sender.account && verdict?.lastSecond == now.seconds + 3599)
        #expect(try SenderAccounts(.bytes(TestSender.register([sender]))).verdict(on: granted.token) == nil)
        let others = try TestSender.register([try TestSender()], secret: register)
        #expect(try SenderAccounts(.bytes(others)).verdict(on: granted.token) == nil)
    }

    @Test("A token is refused in the second after its last")
    func expiry() throws {
        let accounts = try SenderAccounts(.bytes(TestSender.register([sender])))
        let now = EngineClock.system.wall()
        let token = try accounts.grant(try TokenForm(try sender.form()[...]).assertion, at: now).token
        let last = try #require(accounts.verdict(on: token)).lastSecond
        #expect(SubmitterCheck.isGood(last, at: WallTime(seconds: last)))
        #expect(!SubmitterCheck.isGood(last, at: WallTime(seconds: last + 1)))
    }

    @Test("An account that is taken out of the register loses its access with the next look, and a new one gets it")
    func revoked() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("senders-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("accounts.json").path
        func write(_ senders: [TestSender]) throws {
            _ = FileManager.default.createFile(
                atPath: file, contents: Data(try TestSender.register(senders)), attributes: [.posixPermissions: 0o600])
        }
        try write([sender])
        let change = Change<HTTP2IngressConfiguration> {
            $0.requiresCredentials = true
            $0.serviceAccounts = .file(file)
        }
        try await Google.world(change) { world in
            let client = try await world.client()
            let request = Google.request([("authorization", "Bearer \(try await sender.token(client))")])
            #expect(try await client.send(request, body: Google.message()).status == 200)
            let other = try TestSender("other")
            try write([other])
            var configuration = GatewayConfiguration()
            var http2 = HTTP2IngressConfiguration(listen: ListenAddress(host: "127.0.0.1", port: 0))
            try change.apply(&http2)
            configuration.http2 = http2
            try world.gateway.reload(configuration)
            try await eventually("its token is refused") {
                try await client.send(request, body: Google.message()).status == 401
            }
            #expect(try await other.token(client).isEmpty == false)
        }
    }

    @Test("A register that others can read, or that is none, is refused with its name")
    func register() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("open-\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        _ = FileManager.default.createFile(
            atPath: file, contents: Data(try TestSender.register([sender])), attributes: [.posixPermissions: 0o644])
        let open = #expect(throws: GatewayError.self) { try SenderAccounts(.file(file)) }
        #expect(open?.message.contains(file) ?? false)
        let none = #expect(throws: GatewayError.self) { try SenderAccounts(.bytes(Array("{}".utf8))) }
        #expect(none?.message.contains("no register") ?? false)
        let project = #expect(throws: GatewayError.self) {
            try SenderAccounts(.bytes(TestSender.register([TestSender(projects: ["No Project"])])))
        }
        #expect(project?.message.contains("no project id") ?? false)
    }

    @Test("Where everybody on this machine may send, any assertion gets a token")
    func open() async throws {
        try await Google.world { world in
            let client = try await world.client()
            let token = try await sender.token(client)
            let answer = try await client.send(
                Google.request([("authorization", "Bearer \(token)")]), body: Google.message())
            #expect(answer.status == 200)
        }
    }
}
