import Foundation
import Scratch
import Testing

/// The commands with a configuration, against mock services in processes of their own.
@Suite("The commands with a configuration", .serialized)
struct ConfigCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("config check prints every mistake with its line and ends with 78; of a good file it ends with 0")
    func checks() async throws {
        try folder.write("key.p8", "no key")
        try folder.write(
            "bad.yaml",
            """
            journal: {limit: 0}
            routes: [{endpoint: sandbox, signing-key: {file: key.p8, key-id: K, team-id: T}, trust: key.p8}]
            """)
        let bad = try await Tool.run("config", "check", folder("bad.yaml"))
        #expect(bad.status == 78)
        let lines = bad.output.split(separator: "\n")
        #expect(lines.count == 3, "\(bad.output)")
        #expect(bad.output.hasPrefix("\(folder("bad.yaml")):1:18: journal.limit: is \"0\"; takes"), "\(bad.output)")
        // The files are read beside the mistakes of values.
        #expect(
            lines.last?.contains("routes[0].trust: ") == true && lines.contains { $0.contains("signing-key.file: ") })
        let serve = try await Tool.run("serve", "--check", "--json", "--config", folder("bad.yaml"))
        #expect(serve.status == 78 && serve.output.contains("routes[0].signing-key.file: "), "\(serve.output)")
        #expect(serve.output.contains("gateway: listens nowhere") && !serve.output.contains("journal.path"))
        let told = try await Tool.run("config", "check", "--config", folder("bad.yaml"), "--json")
        #expect(told.status == 78)
        #expect(told.output.contains(#""key":"routes[0].trust""#), "\(told.output)")
        try folder.write("good.yaml", "routes: [{endpoint: sandbox}]")
        let good = try await Tool.run("config", "check", environment: ["HOLDFAST_CONFIG": folder("good.yaml")])
        #expect(good.status == 0 && good.output == "\(folder("good.yaml")) can be used: 1 route\n")
        try FileManager.default.createDirectory(atPath: folder("open"), withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder("open"))
        try folder.write("open.yaml", "{journal: {path: open}, routes: [{endpoint: sandbox}]}")
        let open = try await Tool.run("config", "check", folder("open.yaml"))
        #expect(open.status == 0 && open.output.contains("\nwarning: the journal \(folder("open")) is open to others"))
    }

    @Test("A variable that is not UTF-8 makes no journal, and a file that is no YAML is told with the way without it")
    func unreadable() async throws {
        let script = "HOLDFAST_JOURNAL=\"$1$(printf '/j\\377')\" exec \"$0\" lanes list"
        let journal = try await RunningTool(["-c", script, Tool.path, folder.path], program: "/bin/sh").result()
        #expect(journal.status == 78, "\(journal)")
        #expect(journal.errors.contains("HOLDFAST_JOURNAL: journal.path: is not UTF-8"), "\(journal.errors)")
        try folder.write("bad.yaml", "journal: {path: [")
        let status = try await Tool.run("status", "--config", folder("bad.yaml"))
        #expect(status.status == 78 && status.errors.contains("name the journal by --journal DIR"), "\(status.errors)")
        let named = try await Tool.run(
            "status", "--journal", folder("none"), environment: ["HOLDFAST_CONFIG": folder("bad.yaml")])
        #expect(named.status == 3, "\(named)")
    }

    @Test("config show says each value with its place, and names files without printing what is in them")
    func shows() async throws {
        try folder.write("secret.txt", "the passphrase")
        try folder.write("cert.p12", "x")
        try folder.write(
            "c.yaml",
            """
            journal: {path: j}
            routes: [{endpoint: sandbox, certificate: {file: cert.p12, passphrase-file: secret.txt}}]
            """)
        let shown = try await Tool.run(
            "config", "show", "--config", folder("c.yaml"), "--journal", "/tmp/other",
            environment: ["HOLDFAST_LIMITS_WINDOW": "77"])
        #expect(shown.status == 0, "\(shown.errors)")
        let lines = shown.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("journal.path: /tmp/other (--journal)"))
        #expect(lines.contains("limits.window: 77 (HOLDFAST_LIMITS_WINDOW)"))
        #expect(lines.contains("journal.limit: 16G (default)"))
        #expect(lines.contains { $0.hasPrefix("routes[0].certificate.passphrase-file: \(folder("secret.txt"))") })
        #expect(!shown.output.contains("the passphrase"))
    }

    @Test("A key as a variable is used like one in a file, and neither shown nor told when it can't be used")
    func inlineSecrets() async throws {
        let mock = try await MockProcess("--verify-tokens", in: try TemporaryFolder())
        let key = try mock.folder.read("certs/AuthKey.p8")
        var environment = [
            "HOLDFAST_JOURNAL": folder("j"), "HOLDFAST_ROUTES_0_ENDPOINT": mock.endpoint,
            "HOLDFAST_ROUTES_0_TRUST": mock.trust, "HOLDFAST_ROUTES_0_SIGNING_KEY_KEY_ID": "MOCKKEYID1",
            "HOLDFAST_ROUTES_0_SIGNING_KEY_TEAM_ID": "MOCKTEAMID",
            "HOLDFAST_ROUTES_0_SIGNING_KEY_PEM": key.replacingOccurrences(of: "\n", with: #"\n"#),
        ]
        try folder.write("in", (1...10).map { line($0, topic: "one") }.joined())
        let sent = try await Tool.run("send", folder("in"), "--json", environment: environment)
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.count("confirmed") == 10)
        let shown = try await Tool.run("config", "show", "--json", environment: environment)
        #expect(shown.output.contains("(secret)") && !shown.output.contains("BEGIN PRIVATE KEY"))
        environment["HOLDFAST_ROUTES_0_SIGNING_KEY_PEM"] = String(key.prefix(80)) + "-----END PRIVATE KEY-----"
        let broken = try await Tool.run("config", "check", environment: environment)
        #expect(broken.status == 78)
        #expect(broken.output.contains("routes[0].signing-key.pem: the signing key that was given as text"))
        #expect(!broken.output.contains(key.prefix(80).suffix(30)))
    }

    @Test("Several routes in one process: each topic goes to its own service, with its own credentials")
    func severalRoutes() async throws {
        let first = try await MockProcess("--verify-tokens", in: try TemporaryFolder())
        let second = try await MockProcess("--client-certificate", in: try TemporaryFolder())
        try writeConfiguration(first, second)
        try folder.write("in", (1...1000).map { line($0, topic: $0.isMultiple(of: 4) ? "two" : "one") }.joined())
        let strict = try await Tool.run(
            "send", folder("in"), "--config", folder("c.yaml"), "--strict", "--queue-only", "--json")
        #expect(strict.status == 0, "\(strict.errors)")
        let result = try await Tool.run("recover", "--config", folder("c.yaml"), "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("confirmed") == 1000)
        #expect(try first.taken() == 750 && second.taken() == 250)
        let routes = try #require(try result.json()["routes"] as? [[String: Any]])
        #expect(routes.map { $0["route"] as? String } == ["one", "two"])

        // Which of the two a flag is for, nobody can tell; and what no route serves is refused.
        let flag = try await Tool.run("recover", "--config", folder("c.yaml"), "--endpoint", "sandbox")
        #expect(flag.status == 64 && flag.errors.contains("--endpoint does not say which"), "\(flag.errors)")
        try folder.write("stray", line(1, topic: "three"))
        let stray = try await Tool.run("send", folder("stray"), "--config", folder("c.yaml"))
        #expect(stray.status == 65 && stray.errors.contains("no route serves the topic"), "\(stray.errors)")
    }

    @Test("recover names the lanes that no route serves and leaves them alone, until one does")
    func unservedLanes() async throws {
        let first = try await MockProcess(in: try TemporaryFolder())
        let second = try await MockProcess(in: try TemporaryFolder())
        try writeConfiguration(first, second)
        try folder.write("in", (1...100).map { line($0, topic: $0.isMultiple(of: 4) ? "two" : "one") }.joined())
        let environment = ["HOLDFAST_CONFIG": folder("c.yaml")]
        let queued = try await Tool.run("send", folder("in"), "--queue-only", environment: environment)
        #expect(queued.status == 0, "\(queued.errors)")
        let status = try await Tool.run("journal", "status", "--json", environment: environment)
        #expect(try status.count("unconfirmed") == 100)

        try writeConfiguration(first, nil)
        let dry = try await Tool.run("recover", "--dry-run", environment: environment)
        #expect(dry.output.contains("recover would deliver 75 notifications"), "\(dry.output)")
        #expect(dry.output.contains("no route serves it: left alone"), "\(dry.output)")
        let part = try await Tool.run("recover", "--json", environment: environment)
        #expect(part.status == 75, "\(part.errors)")
        #expect(try part.count("confirmed") == 75 && part.count("left") == 25)
        let unserved = try #require(try part.json()["unserved"] as? [[String: Any]])
        #expect(unserved.count == 1 && unserved[0]["lane"] as? String == "two/considerate/at-least-once")
        #expect(try second.taken() == 0)

        try writeConfiguration(first, second)
        let rest = try await Tool.run("recover", "--json", environment: environment)
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(try second.taken() == 25)
    }

    @Test("A route that must be mended keeps nothing from another, and is told at the end")
    func brokenRoute() async throws {
        let first = try await MockProcess(in: try TemporaryFolder())
        let second = try await MockProcess(in: try TemporaryFolder())
        // The second one's certificate is signed by an authority that is not trusted.
        try writeConfiguration(first, second, trustOfSecond: first.trust)
        try folder.write("in", (1...400).map { line($0, topic: $0.isMultiple(of: 4) ? "two" : "one") }.joined())
        let result = try await Tool.run("send", folder("in"), "--config", folder("c.yaml"), "--json")
        #expect(result.status == 78, "\(result.errors)")
        #expect(try result.count("confirmed") == 300 && result.count("left") == 100)
        #expect(result.errors.contains("route two: "), "\(result.errors)")
    }

    @Test("One configured route takes flags over it, and its only topic is that of lines without one")
    func oneRoute() async throws {
        let mock = try await MockProcess(in: folder)
        try folder.write(
            "c.yaml",
            """
            journal: {path: j, when-full: refuse}
            routes: [{name: app, topics: [com.example], endpoint: sandbox, trust: certs/ca.pem, connections: 2}]
            """)
        try folder.write("in", #"{"token":"\#(String(repeating: "a", count: 64))","payload":{}}"# + "\n")
        let result = try await Tool.run(
            "send", folder("in"), "--config", folder("c.yaml"), "--endpoint", mock.endpoint, "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try folder.read("ledger").contains("com.example"))
        // The journal remembers nothing of it: the configuration does.
        let status = try await Tool.run("journal", "status", "--journal", folder("j"), "--json")
        #expect(try status.json()["endpoint"] == nil)
    }

    private func writeConfiguration(
        _ first: MockProcess, _ second: MockProcess?, trustOfSecond: String? = nil
    ) throws {
        var text = """
            journal: {path: j}
            routes:
              - name: one
                topics: [one]
                endpoint: \(first.endpoint)
                trust: \(first.trust)
                signing-key: {file: \(first.folder("certs/AuthKey.p8")), key-id: MOCKKEYID1, team-id: MOCKTEAMID}

            """
        if let second {
            text += """
                  - name: two
                    topics: [two]
                    endpoint: \(second.endpoint)
                    trust: \(trustOfSecond ?? second.trust)
                    certificate: {file: \(second.folder("certs/client.pem")), key: \(second.folder("certs/client.key"))}
                    rate: {per-second: 500}
                    connections: 2
                """
        }
        try folder.write("c.yaml", text)
    }

    private func line(_ number: Int, topic: String) -> String {
        let digits = String(number)
        let token = String(repeating: "0", count: 64 - digits.count) + digits
        return #"{"token":"\#(token)","apns-topic":"\#(topic)","payload":{"n":\#(number)}}"# + "\n"
    }

    @Test("config check reads the certificates of listeners, too")
    func files() async throws {
        let folder = try TemporaryFolder()
        for name in ["one", "two"] {
            #expect(try await Tool.run("gateway", "certificate", "--directory", folder(name)).status == 0)
        }
        try folder.write(
            "c.yaml",
            """
            routes: [{endpoint: sandbox}]
            gateway:
              http2: {listen: "127.0.0.1:0", certificate: one/server.pem, key: two/server.key}
              binary: {listen: "127.0.0.1:0", certificate: one/server.pem, key: one/server.key, topic: t, clients: c.yaml}
              feedback: {listen: "127.0.0.1:0", certificate: one/server.pem, key: one/server.key, clients: one/ca.pem}
            """)
        let result = try await Tool.run("config", "check", folder("c.yaml"))
        let lines = result.output.split(separator: "\n")
        #expect(result.status == 78 && lines.count == 2, "\(result.output)")
        #expect(lines.first?.contains(":3:47: gateway.http2.certificate: ") == true, "\(result.output)")
        #expect(lines.last?.contains("gateway.binary.clients: ") == true, "\(result.output)")
    }

    @Test("The password of a proxy is in no listing")
    func proxyPassword() async throws {
        try folder.write("c.yaml", "routes: [{endpoint: sandbox, proxy: \"http://me:hunter2@proxy.example\"}]")
        let shown = try await Tool.run("config", "show", "--config", folder("c.yaml"))
        #expect(shown.status == 0 && shown.output.contains("routes[0].proxy"), "\(shown.errors)")
        #expect(!shown.output.contains("hunter2"))
    }

    @Test("An address behind a proxy is a good endpoint, and no server name, as the check says")
    func address() async throws {
        try folder.write("c.yaml", "routes: [{endpoint: \"https://10.0.0.7\", proxy: \"http://proxy.example\"}]")
        let checked = try await Tool.run("config", "check", folder("c.yaml"))
        #expect(checked.status == 0, "\(checked.output)")
        try folder.write("d.yaml", "routes: [{endpoint: \"https://10.0.0.7\", server-name: 10.0.0.7}]")
        let named = try await Tool.run("config", "check", folder("d.yaml"))
        #expect(named.status == 78, "\(named.output)")
        #expect((named.output + named.errors).contains("server name"), "\(named.output)")
    }
}
