import Foundation
import HoldfastMockFCM
import HoldfastMocking
import HoldfastOpenSSL
import Testing

@Suite("The mock of FCM", .timeLimit(.minutes(1))) struct MockFCMServerTests {
    @Test("Unread it takes whatever comes, each with a name of its own")
    func unread() async throws {
        var configuration = MockFCMConfiguration()
        configuration.checksRequests = false
        let server = try await MockFCMServer.start(configuration)
        var curl = Curl()
        let first = try await curl.send(to: server)
        curl.body = "no JSON"
        let second = try await curl.send(to: server)
        for (answer, number) in [(first, "1-1"), (second, "2-1")] {
            #expect(
                answer.status == 200 && answer.text["name"] as? String == "projects/mock-project/messages/0:\(number)")
        }
        #expect(server.counters.accepted == 2)
        try await server.stop()
        configuration.quota = .init(5)
        await #expect(throws: MockError.self) { try await MockFCMServer.start(configuration) }
    }

    // MARK: Access tokens

    /// The parts of an assertion, as a sender would make it.
    private struct Claims {
        var alg = "RS256"
        var iss: String
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
        var aud: String
        var iat = Int64(Date().timeIntervalSince1970)
        var life: Int64 = 3600

        func signed(with key: RS256PrivateKey) throws -> String {
            let header = Array(#"{"alg":"\#(alg)","typ":"JWT"}"#.utf8)
            let claims = Array(
                #"{"iss":"\#(iss)","scope":"\#(scope)","aud":"\#(aud)","iat":\#(iat),"exp":\#(iat + life)}"#.utf8)
            var text = Base64URL.encode(header.span) + [UInt8(ascii: ".")] + Base64URL.encode(claims.span)
            let signature = try key.sign(text.span)
            text += [UInt8(ascii: ".")] + Base64URL.encode(signature.span)
            return String(decoding: text, as: UTF8.self)
        }
    }

    private func account(_ server: MockFCMServer) throws -> (claims: Claims, key: RS256PrivateKey) {
        let file = try Data(contentsOf: URL(fileURLWithPath: server.serviceAccountFile))
        let fields = try #require(try JSONSerialization.jsonObject(with: file) as? [String: String])
        #expect(fields["type"] == "service_account" && fields["project_id"] == "mock-project")
        let uri = try #require(fields["token_uri"])
        #expect(uri == server.tokenURI)
        return (
            Claims(iss: try #require(fields["client_email"]), aud: uri),
            try RS256PrivateKey(pem: Array(try #require(fields["private_key"]).utf8))
        )
    }

    private func form(_ assertion: String, grant: String = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        -> String
    {
        "grant_type=\(grant)&assertion=\(assertion)"
    }

    @Test("A good assertion gets a token, with which messages are taken; without one, or with another, they are not")
    func grants() async throws {
        let server = try await MockFCMServer.start()
        let (claims, key) = try account(server)
        let answer = try await Curl.ask(server, form(try claims.signed(with: key)))
        #expect(answer.status == 200 && answer.text["expires_in"] as? Int == 3599)
        #expect(answer.text["token_type"] as? String == "Bearer")
        let token = try #require(answer.text["access_token"] as? String)
        let taken = try await Curl().send(to: server, token: token)
        #expect(
            taken.status == 200
                && (taken.text["name"] as? String)?.hasPrefix("projects/mock-project/messages/") ?? false)
        for wrong in [nil, "ya29.forged"] as [String?] {
            let refused = try await Curl().send(to: server, token: wrong)
            #expect(refused.status == 401 && refused.code == "UNAUTHENTICATED" && refused.detail("errorCode") == nil)
        }
        server.revokeAccessTokens()
        #expect(try await Curl().send(to: server, token: token).status == 401)
        #expect(server.counters.tokens == 1 && server.counters.accepted == 1 && server.counters.rejectedCount == 3)
        try await server.stop()
    }

    @Test("Each fault of an assertion is refused in Google's words") func faults() async throws {
        let server = try await MockFCMServer.start()
        let (good, key) = try account(server)
        func refused(_ change: (inout Claims) -> Void, with other: RS256PrivateKey? = nil) async throws -> (
            String?, String?
        ) {
            var claims = good
            change(&claims)
            let answer = try await Curl.ask(server, form(try claims.signed(with: other ?? key)))
            #expect(answer.status == 400)
            return (answer.text["error"] as? String, answer.text["error_description"] as? String)
        }
        #expect(try await refused({ _ in }, with: RS256PrivateKey()) == ("invalid_grant", "Invalid JWT Signature."))
        #expect(try await refused { $0.alg = "none" }.0 == "invalid_grant")
        #expect(try await refused { $0.iss = "nobody@example.com" }.1 == "Invalid grant: account not found")
        #expect(try await refused { $0.aud = "https://example.com/token" }.1 == "Invalid JWT: Failed audience check.")
        #expect(try await refused { $0.iat -= 7200 }.0 == "invalid_grant")
        #expect(try await refused { $0.iat += 600 }.0 == "invalid_grant")
        #expect(try await refused { $0.life = 7200 }.0 == "invalid_grant")
        #expect(try await refused { $0.scope = "https://www.googleapis.com/auth/drive" }.0 == "invalid_scope")
        let grant = try await Curl.ask(server, form(try good.signed(with: key), grant: "password"))
        #expect(grant.text["error"] as? String == "unsupported_grant_type")
        #expect(try await Curl.ask(server, form("a.b")).text["error"] as? String == "invalid_grant")
        #expect(server.counters.tokens == 0 && server.counters.tokensRefused == 10)
        try await server.stop()
    }

    // MARK: Messages

    private func start(_ change: (inout MockFCMConfiguration) -> Void = { _ in }) async throws -> MockFCMServer {
        var configuration = MockFCMConfiguration()
        configuration.checksAccessTokens = false
        change(&configuration)
        return try await MockFCMServer.start(configuration)
    }

    @Test(
        "Each fault of a message is refused in Google's words",
        arguments: [
            (#"{"#, nil, "Invalid JSON"), (#"{"message":1}"#, "message", "Message is not set"),
            (#"{"message":{"data":{}}}"#, "message", "Recipient of the message is not set"),
            (#"{"message":{"fid":"a","token":"b"}}"#, "message", "Exactly one"),
            (#"{"message":{"token":""}}"#, "message.token", "not a valid FCM registration token"),
            (#"{"message":{"topic":"a b"}}"#, "message.topic", "Malformed topic"),
            (#"{"message":{"fid":"a","data":{"n":1}}}"#, "message.data", "message.data"),
            (#"{"message":{"fid":"a","android":{"ttl":"1m"}}}"#, "message.android.ttl", "ttl"),
            (#"{"message":{"fid":"a","aps":{}}}"#, nil, "Unknown name"),
            (#"{"message":{"fid":"a"},"x":1}"#, nil, "Unknown name"),
            (#"{"message":{"fid":"a","data":{"x":"\#(String(repeating: "y", count: 4096))"}}}"#, "message", "too big"),
        ] as [(String, String?, String)])
    func messages(body: String, field: String?, words: String) async throws {
        let server = try await start()
        let answer = try await Curl(body: body).send(to: server)
        #expect(answer.status == 400 && answer.code == "INVALID_ARGUMENT")
        #expect(answer.detail("errorCode") as? String == "INVALID_ARGUMENT")
        let violations = answer.detail("fieldViolations") as? [[String: String]]
        #expect(violations?.first?["field"] == field)
        #expect(answer.message?.contains(words) ?? false, "\(answer.body)")
        try await server.stop()
    }

    @Test("Members that are null are none, and a time to live beside a payload of 4096 bytes makes it no longer")
    func leniency() async throws {
        let server = try await start()
        let most = #"{"data":{"x":"\#(String(repeating: "y", count: 4079))"}"#
        for (message, status) in [
            (#"{"fid":"a","token":null,"data":null,"android":{"ttl":null},"apns":null}"#, 200),
            (most + #","fid":"a"}"#, 200), (most + #","fid":"a","android":{"ttl":"3600s"}}"#, 200),
            (most + #","fid":"a","android":{"ttl":"3600s","priority":"HIGH"}}"#, 400),
        ] {
            let answer = try await Curl(body: #"{"message":\#(message)}"#).send(to: server)
            #expect(answer.status == status, "\(message.suffix(80)): \(answer.body)")
        }
        try await server.stop()
    }

    @Test("Another project is not permitted, another path is a page, and another content is refused") func places()
        async throws
    {
        let server = try await start()
        let other = try await Curl(path: "/v1/projects/other/messages:send").send(to: server)
        #expect(other.status == 403 && other.code == "PERMISSION_DENIED")
        let page = try await Curl(path: "/v1/projects/mock-project/messages").send(to: server)
        #expect(page.status == 404 && page.body.contains("<html>"))
        #expect(try await Curl(headers: ["content-type: text/plain"]).send(to: server).status == 400)
        try await server.stop()
    }

    @Test("A quota refuses what is beyond it, and says when to come again; its own refusals do not count") func quota()
        async throws
    {
        let server = try await start { $0.quota = MockFCMConfiguration.Quota(2, per: .seconds(3600), retryAfter: "60") }
        #expect(try await Curl().send(to: server).status == 200)
        #expect(try await Curl(body: "{}").send(to: server).status == 400)
        for _ in 0..<2 {
            let refused = try await Curl().send(to: server)
            #expect(refused.status == 429 && refused.code == "RESOURCE_EXHAUSTED")
            #expect(
                refused.detail("errorCode") as? String == "QUOTA_EXCEEDED" && refused.headers["retry-after"] == "60")
        }
        try await server.stop()
    }

    @Test("Targets are refused as configured, with what the details name") func rejections() async throws {
        let server = try await start {
            $0.rejections = [
                "abc": "UNREGISTERED", "busy": MockRejection("QUOTA_EXCEEDED", retryAfter: "7", subject: "device"),
            ]
        }
        let gone = try await Curl().send(to: server)
        #expect(gone.status == 404 && gone.code == "NOT_FOUND" && gone.detail("errorCode") as? String == "UNREGISTERED")
        let busy = try await Curl(body: #"{"message":{"token":"busy"}}"#).send(to: server)
        let violations = busy.detail("violations") as? [[String: String]]
        #expect(busy.status == 429 && violations?.first?["subject"]?.hasPrefix("device") ?? false)
        try await server.stop()
    }

    @Test("The ledger has what was taken, also behind a 5xx, with the message's id; and not what was only validated")
    func ledger() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try await start {
            $0.ledgerPath = path
            $0.script = [.request(.init(tokens: ["late"]), MockAnswer(.acceptedAndRejected("UNAVAILABLE")))]
        }
        let late = #"{"message":{"fid":"Late","data":{"holdfast-id":"one"}}}"#
        #expect(try await Curl(body: late).send(to: server).status == 503)
        #expect(try await Curl(body: #"{"message":{"topic":"news","data":{}}}"#).send(to: server).status == 200)
        let validated = try await Curl(body: #"{"validateOnly":true,"message":{"fid":"abc"}}"#).send(to: server)
        #expect(validated.status == 200 && server.counters.validated == 1)
        #expect(try await Curl(body: late).send(to: server).status == 503)
        try await server.stop()
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix(#"{"id":"one","target":"fid:Late","name":"projects/mock-project/messages/"#))
        #expect(lines[1].contains(#""target":"topic:news""#))
        let audit = try LedgerAudit(paths: [path])
        #expect(audit.acceptedLines == 3 && audit.distinctNotifications == 2 && audit.damagedLines == 0)
        #expect(audit.duplicates.map(\.recipient) == ["fid:Late"])
    }

    @Test("A directory keeps the account over a start, with the new endpoint in its file") func kept() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("mock-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var keys: [[UInt8]] = []
        for _ in 0..<2 {
            let server = try await start { $0.certificateDirectory = directory }
            keys.append(try account(server).key.publicKey.pem())
            let attributes = try FileManager.default.attributesOfItem(atPath: server.serviceAccountFile)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try await server.stop()
        }
        #expect(keys[0] == keys[1])
    }

    @Test("What can't be served is refused at the start") func configurations() async throws {
        for change in [
            { $0.port = 70_000 }, { $0.project = "" }, { $0.maxConcurrentStreams = 0 }, { $0.tokenLifetime = .zero },
            { $0.quota = MockFCMConfiguration.Quota(0) }, { $0.delay = .seconds(-1) },
        ] as [(inout MockFCMConfiguration) -> Void] {
            var configuration = MockFCMConfiguration()
            change(&configuration)
            await #expect(throws: MockError.self) { _ = try await MockFCMServer.start(configuration) }
        }
    }
}
