import Foundation
import Scratch
import Testing

@Suite("holdfast gateway account")
struct GatewayAccountTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) async throws -> Tool.Result {
        try await Tool.start(arguments).result(limit: .seconds(60))
    }

    private func issue(_ more: String...) async throws -> Tool.Result {
        try await run(
            [
                "gateway", "account", "issue", "newsletter", "--register", folder("accounts.json"), "--project",
                "my-app", "--url", "https://push.example.net:2197", "--output", folder("newsletter.json"),
            ] + more)
    }

    private func object(_ path: String) throws -> [String: Any] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("It writes a file as Google's for the sender, and only the public half into the register")
    func issues() async throws {
        let made = try await issue()
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("service-accounts: \(folder("accounts.json"))"))
        for name in ["accounts.json", "newsletter.json"] { #expect(try mode(folder(name)) == 0o600, "\(name)") }
        let file = try object(folder("newsletter.json"))
        #expect(file["type"] as? String == "service_account" && file["project_id"] as? String == "my-app")
        #expect(file["token_uri"] as? String == "https://push.example.net:2197/token")
        #expect((file["private_key"] as? String)?.hasPrefix("-----BEGIN PRIVATE KEY-----") ?? false)
        let register = try String(contentsOfFile: folder("accounts.json"), encoding: .utf8)
        #expect(!register.contains("PRIVATE") && register.contains("newsletter@holdfast.invalid"))
    }

    @Test("What it makes can be served, and a register that is none is told of with its key")
    func usable() async throws {
        _ = try await issue()
        _ = try await run(["gateway", "certificate", "--directory", folder("tls")])
        func check() async throws -> Tool.Result {
            try folder.write(
                "c.yaml",
                """
                journal: {path: \(folder("j"))}
                routes: [{endpoint: sandbox, topics: [com.example.app]}]
                gateway:
                  http2: {listen: "0.0.0.0:2197", certificate: \(folder("tls/server.pem")), key: \(folder("tls/server.key")), service-accounts: \(folder("accounts.json"))}
                """)
            return try await run(["serve", "--check", "--config", folder("c.yaml")])
        }
        let good = try await check()
        #expect(good.status == 0, "\(good.output)\(good.errors)")
        try folder.write("accounts.json", "{}")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("accounts.json"))
        let bad = try await check()
        #expect(bad.status == 78 && (bad.output + bad.errors).contains("http2.service-accounts"), "\(bad.errors)")
    }

    @Test("A second account of a name needs --replace, which gives it a new key")
    func replaces() async throws {
        #expect(try await issue().status == 0)
        let before = try object(folder("newsletter.json"))["private_key_id"] as? String
        let again = try await issue()
        #expect(again.status == 73 && again.errors.contains("--replace"))
        #expect(try await issue("--replace").status == 0)
        #expect(try object(folder("newsletter.json"))["private_key_id"] as? String != before)
        let listed = try await run(["gateway", "account", "list", "--register", folder("accounts.json"), "--json"])
        #expect(listed.output.split(separator: "\n").count == 1)
        #expect(listed.output.contains(#""projects":["my-app"]"#), "\(listed.output)")
    }

    @Test("A key that a sender has is admitted, once, and an account is revoked with all its keys")
    func admits() async throws {
        _ = try await issue()
        let arguments = ["account", "admit", folder("newsletter.json"), "--register", folder("other.json")]
        let admitted = try await run(["gateway"] + arguments)
        #expect(admitted.status == 0 && admitted.output.contains("my-app"), "\(admitted.errors)")
        #expect(try await run(["gateway"] + arguments).status == 73)
        let revoke = ["gateway", "account", "revoke", "newsletter", "--register", folder("other.json")]
        let revoked = try await run(revoke + ["--json"])
        #expect(revoked.output.contains(#""keys":1"#), "\(revoked.output)\(revoked.errors)")
        #expect(try await run(revoke).status == 66)
    }

    @Test(
        "What can't be an account is refused, with nothing written",
        arguments: [
            ["a b", "my-app", "https://a"], ["a", "My App", "https://a"], ["a", "my-app", "ftp://a"],
            ["a", "my-app", "http://push.example.net"],
        ])
    func refuses(words: [String]) async throws {
        let made = try await run([
            "gateway", "account", "issue", words[0], "--register", folder("r.json"), "--project", words[1], "--url",
            words[2], "--output", folder("a.json"),
        ])
        #expect(made.status == 64, "\(made.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("r.json")))
    }
}
