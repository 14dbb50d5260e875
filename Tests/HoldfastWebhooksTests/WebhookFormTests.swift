import BuiltProgram
import Foundation
import Holdfast
import HoldfastRequests
import RawClients
import Scratch
import Testing

@testable import HoldfastWebhooks

/// URLs, secrets, signatures, and the page that tells receivers of them.
@Suite struct WebhookFormTests {
    @Test("A URL is taken apart, and only its server is shown")
    func address() throws {
        let one = try PostAddress(webhook: "https://CRM.example.com/holdfast/told?key=abc")
        #expect(one.host == "crm.example.com" && one.port == 443 && one.target == "/holdfast/told?key=abc")
        #expect(one.server == "https://crm.example.com" && one.authority == "crm.example.com")
        let two = try PostAddress(webhook: "http://[::1]:8080?x")
        #expect(two.isCleartext && two.target == "/?x" && two.server == "http://[::1]:8080")
        #expect(try PostAddress(webhook: "https://a.example:8443").target == "/")
    }

    @Test(
        "A wrong URL is refused with its fault, and never quoted behind its host",
        arguments: [
            ("ftp://a.example", "begins with neither"), ("crm.example.com/x", "begins with neither"),
            ("https://", "has no host"), ("https://user:pw@a.example/", "has a user or a password"),
            ("https://a.example/x#y", "has a fragment"), ("https://a.example/ä", "percent-encoded"),
            ("https://a.example/a b", "percent-encoded"), ("http://a.example/", "in the clear"),
            ("https://a.example:0/", "no port from 1"), ("https://a_b.example:x/", "no port from 1"),
            ("https://a.example/" + String(repeating: "x", count: 2048), "more than 2048"),
        ])
    func wrongAddress(_ text: String, _ words: String) throws {
        let error = #expect(throws: (any Error).self) { try PostAddress(webhook: text) }
        #expect("\(try #require(error))".contains(words), "\(error as Any)")
    }

    @Test("Secrets are whsec_ and Base64, one a line, and a wrong one is never quoted")
    func secrets() throws {
        #expect(try WebhookSecret(Samples.secret + "\n").keys == [Array("All that was accepted is told.".utf8)])
        #expect(try WebhookSecret("\(Samples.secret)\r\n\n\(Samples.secret)\n").keys.count == 2)
        for wrong in ["", "\n", "s3cr3t-s3cr3t", "whsec_***", "whsec_c2hvcnQ=", "\(Samples.secret)\nother"] {
            let error = #expect(throws: WebhookSecret.Fault.self) { try WebhookSecret(wrong) }
            #expect(error?.message.contains("openssl rand") == true)
            #expect(error?.message.contains("s3cr3t") == false && error?.message.contains("other") == false)
        }
        #expect("\(try WebhookSecret(Samples.secret))" == "(secret)")
    }

    @Test("The signature is that of the specification's own example, and of several secrets one behind the other")
    func signature() throws {
        // The test vector of github.com/standard-webhooks.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
        let value = try WebhookSignature.value(
            id: id, timestamp: 1_614_265_330, body: body, secret: WebhookSecret(secret))
        #expect(value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        let both = try WebhookSignature.value(
            id: id, timestamp: 1_614_265_330, body: body, secret: WebhookSecret("\(Samples.secret)\n\(secret)"))
        #expect(both.split(separator: " ").count == 2 && both.hasSuffix(value))
    }

    @Test(
        "The page's examples take a good signature, and neither a changed body nor an old one",
        arguments: [("python", "python3", "py"), ("javascript", "node", "mjs")])
    func examples(_ language: String, _ program: String, _ ending: String) async throws {
        let page = try String(
            contentsOf: BuiltProgram.root.appendingPathComponent("Docs/Reference/Outcomes.md"), encoding: .utf8)
        let code = try #require(
            page.components(separatedBy: "```\(language)\n").dropFirst().first?.components(separatedBy: "```\n").first)
        let folder = try TemporaryFolder()
        let now = Int64(Date().timeIntervalSince1970)
        let secret = try WebhookSecret(Samples.secret)
        func signature(_ time: Int64) throws -> String {
            try WebhookSignature.value(id: "crm-1-2", timestamp: time, body: Array("{}".utf8), secret: secret)
        }
        let calls = [
            (now, try signature(now), "{}", true), (now, "v1,AAAA " + (try signature(now)), "{}", true),
            (now, try signature(now), "{ }", false), (now + 1, try signature(now), "{}", false),
            (now - 3600, try signature(now - 3600), "{}", false), (now, "v1,AAAA", "{}", false),
        ]
        for (time, signature, body, isGood) in calls {
            let headers =
                "{\"webhook-id\": \"crm-1-2\", \"webhook-timestamp\": \"\(time)\", \"webhook-signature\": \"\(signature)\"}"
            let call =
                language == "python"
                ? "print(is_genuine(\(headers), b'\(body)', '\(Samples.secret)'))"
                : "console.log(isGenuine(\(headers), Buffer.from('\(body)'), '\(Samples.secret)'))"
            try folder.write("try.\(ending)", code + "\n" + call + "\n")
            let run = try await Command.run(program, [folder("try.\(ending)")])
            #expect(run.text.lowercased() == "\(isGood)\n", "\(time) \(body): \(run.text)")
        }
    }
}
