import Foundation
import Holdfast
import HoldfastRequests
import HoldfastWebhooks
import Scratch
import Testing

@testable import HoldfastService

@Suite("Webhooks in the configuration")
struct WebhookSettingsTests {
    private let folder: TemporaryFolder
    private let secret = "whsec_QWxsIHRoYXQgd2FzIGFjY2VwdGVkIGlzIHRvbGQu"

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("secret", secret + "\n")
        try folder.write("wrong", "s3cr3t")
        for name in ["secret", "wrong"] { try close(name, 0o600) }
    }

    private func close(_ name: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder(name))
    }

    private func load(_ webhooks: String, environment: [String: String] = [:]) throws -> HoldfastConfiguration {
        try folder.write("c.yaml", webhooks)
        return try HoldfastConfiguration.load(file: folder("c.yaml"), environment: environment)
    }

    private func problems(_ text: String) throws -> [String] {
        let start = folder("c.yaml")
        do {
            let configuration = try load(text)
            return configuration.unusable().map { $0.description.replacingOccurrences(of: start, with: "c.yaml") }
        } catch let error as ConfigError {
            return error.adding { $0.unusable() }.problems.map {
                $0.description.replacingOccurrences(of: start, with: "c.yaml")
            }
        }
    }

    @Test("Every key has its meaning, and everything but name, url and secret has a default") func values() throws {
        let configuration = try load(
            """
            webhooks:
              - {name: crm, url: "https://crm.example.com/told?key=abc", secret-file: secret}
              - name: billing_2
                url: http://127.0.0.1:8080
                secret: \(secret)
                producers: [gateway-http2, orders]
                endings: [rejected, unknown]
                batch: 20
                timeout: 5s
                retry: {minimum: 2s, maximum: 10m}
                proxy: http://proxy.example
            """)
        let ready = try configuration.webhooks.map { try ReadyWebhook($0).configuration }
        #expect(ready[0].address == (try PostAddress(webhook: "https://crm.example.com/told?key=abc")))
        #expect(ready[0].producers == nil && ready[0].endings == nil && ready[0].batch == 500)
        #expect(ready[0].timeout == .seconds(30) && ready[0].retry.minimum == .seconds(1))
        #expect(ready[0].retry.maximum == .seconds(300) && ready[0].secret == ready[1].secret)
        #expect(ready[1].producers == ["gateway-http2", "orders"] && ready[1].endings == ["rejected", "unknown"])
        #expect(ready[1].batch == 20 && ready[1].timeout == .seconds(5) && ready[1].retry.maximum == .seconds(600))
        #expect(ready[1].proxy?.host == "proxy.example" && ready[1].reader == "webhook/billing_2")
        // Neither the secret nor what may be one in a URL is shown.
        let shown = configuration.values.flatMap { values in
            values.entries.compactMap { name, entry in values.section.key(name)?.type.write(entry.value) }
        }
        #expect(shown.contains("https://crm.example.com/…") && shown.contains("(secret)"))
        #expect(!shown.contains { $0.contains("key=abc") || $0.contains("whsec") })
    }

    @Test("The secret may be a variable's") func variable() throws {
        let configuration = try load(
            "webhooks: [{name: crm, url: \"https://a.example\"}]", environment: ["HOLDFAST_WEBHOOKS_CRM_SECRET": secret]
        )
        #expect(try ReadyWebhook(configuration.webhooks[0]).configuration.reader == "webhook/crm")
    }

    @Test("Mistakes are told with line and column, all at once, and never with the secret") func mistakes() throws {
        let found = try problems(
            """
            webhooks:
              - {name: crm, url: "http://crm.example.com/told?key=abc", secret-file: secret}
              - {name: crm, url: "https://a.example", secret-file: none}
              - {name: "c.m", url: "https://a.example"}
              - {name: a, url: "https://a.example", secret-file: secret, secret: \(secret), endings: [rejectd]}
              - {name: b, url: "https://a.example", secret-file: secret, producers: [gateway-htpp2]}
              - {name: d, url: "https://a.example", secret-file: secret, retry: {minimum: 10m}}
              - {name: e, url: "https://user@a.example/", secret-file: secret, batch: 5000}
            """)
        let expected = [
            "c.yaml:2:22: webhooks[0].url: is http:// to another machine: outcomes go there in the clear",
            #"c.yaml:3:12: webhooks[1].name: "crm" is also the name of webhooks[0]"#,
            "c.yaml:3:56: webhooks[1].secret-file: there is no file",
            #"c.yaml:4:12: webhooks[2].name: "c.m" has other characters than"#,
            "c.yaml:4:5: webhooks[2].secret-file: is missing",
            "c.yaml:5:70: webhooks[3].secret: contradicts secret-file",
            #"webhooks[3].endings"#,
            #"c.yaml:6:73: webhooks[4].producers: "gateway-htpp2" is no producer; did you mean gateway-http2?"#,
            "c.yaml:7:79: webhooks[5].retry.minimum: contradicts",
            "c.yaml:8:20: webhooks[6].url: has a user or a password",
            "webhooks[6].batch: is \"5000\"; takes a whole number from 1 to 1000",
        ]
        for words in expected { #expect(found.contains { $0.contains(words) }, "\(words) is not in \(found)") }
        #expect(found.count == expected.count, "\(found)")
        #expect(!found.contains { $0.contains("key=abc") || $0.contains("whsec_QW") })
    }

    @Test("A file without a secret, trust without a certificate, and a history that is off are told of their keys")
    func files() throws {
        let found = try problems(
            """
            journal: {history: off}
            webhooks:
              - {name: crm, url: "https://a.example", secret-file: wrong}
              - {name: b, url: "https://a.example", secret-file: secret, trust: wrong}
            """)
        #expect(
            found.contains {
                $0.contains("c.yaml:3:56: webhooks[0].secret-file: the file ") && $0.contains("openssl rand")
            })
        #expect(found.contains { $0.contains("c.yaml:4:69: webhooks[1].trust: ") })
        #expect(found.count { $0.contains("has nothing to tell: give journal.history") } == 2, "\(found)")
        #expect(!found.contains { $0.contains("s3cr3t") })
    }

    @Test("Mistakes of files are told beside those of values, each once, and nothing that only follows from one")
    func oneRound() throws {
        try folder.write("key.p8", "no key")
        let found = try problems(
            """
            journal: {history: {keep: never}}
            limits: {window: 0}
            clients: [{name: ""}]
            routes:
              - {endpoint: nowhere, topics: [a], trust: wrong, signing-key: {file: key.p8, key-id: K, team-id: T}}
              - {name: b, endpoint: sandbox, topics: [b], signing-key: {file: key.p8, key-id: K}}
            gateway:
              http2: {listen: nowhere, certificate: wrong, clients: wrong, hosts: {production: [a.example]}}
              feedback: {listen: "127.0.0.1:1", topic: c, certificate: none, key: wrong}
            webhooks:
              - {name: crm, url: "nowhere", secret-file: wrong, trust: wrong}
            admin: {listen: "127.0.0.1:1", connections: 0, token-file: wrong}
            """)
        let paths = found.map { $0.split(separator: " ", maxSplits: 2)[1].dropLast() }
        #expect(
            paths == [
                "journal.history.keep", "limits.window", "clients[0].name", "routes[0].endpoint", "routes[0].trust",
                "routes[0].signing-key.file", "routes[1].signing-key.team-id", "gateway.http2.listen",
                "gateway.http2.certificate", "gateway.http2.clients", "gateway.feedback.certificate", "webhooks[0].url",
                "webhooks[0].secret-file", "webhooks[0].trust", "admin.listen", "admin.connections", "admin.token-file",
            ], "\(found)")
    }

    @Test("A secret that others may read or write to is refused; a service manager's modes are taken") func opened()
        throws
    {
        let text = "webhooks: [{name: crm, url: \"https://a.example\", secret-file: link}]"
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: folder("secret"))
        for mode in [0o644, 0o604, 0o666, 0o660, 0o620, 0o601] {
            try close("secret", mode)
            let found = try problems(text)
            let start =
                "c.yaml:1:63: webhooks[0].secret-file: the file \(folder("link")) is open to others of this machine "
            #expect(
                found.count == 1 && found[0].hasPrefix(start + "(mode 0\(String(mode, radix: 8)), owner "), "\(found)")
            #expect(found[0].hasSuffix("`chmod 600 \(folder("link"))`"), "\(found)")
            #expect(throws: UnusableWebhook.self) { try ReadyWebhook(try load(text).webhooks[0]) }
        }
        for mode in [0o600, 0o400, 0o440, 0o640] {
            try close("secret", mode)
            #expect(try problems(text) == [])
        }
    }
}
