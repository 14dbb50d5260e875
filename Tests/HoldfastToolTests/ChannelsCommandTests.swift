import Foundation
import HoldfastJournal
import Scratch
import Testing

@testable import HoldfastTool

/// Against a mock in a process of its own.
@Suite("The commands that manage channels", .serialized)
struct ChannelsCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func mock(_ flags: String...) async throws -> MockProcess {
        try await MockProcess(["--management-port", "0", "--json"] + flags, in: folder)
    }

    private func run(
        _ action: String, _ arguments: String..., mock: MockProcess, flags: [String]? = nil
    ) async throws -> Tool.Result {
        let port = try #require(mock.managementPort)
        let standard = [
            "--endpoint", "https://127.0.0.1:\(port)", "--trust", mock.trust, "--bundle-id", "com.example.app",
        ]
        return try await Tool.start(
            ["channels", action] + arguments + (flags ?? standard),
            environment: ["XDG_CACHE_HOME": folder("cache"), "HOLDFAST_CONFIG": ""]
        ).result()
    }

    private func key(_ mock: MockProcess) -> [String] {
        ["--key", folder("certs/AuthKey.p8"), "--key-id", "MOCKKEYID1", "--team-id", "MOCKTEAMID"]
    }

    @Test("Beside a sealed journal without its key, flags that say all are enough, and else it is said what to give")
    func sealed() async throws {
        let mock = try await mock()
        #expect(try await Tool.run("journal", "key", "new", folder("journal.key")).status == 0)
        var options = LMDBJournal.Options()
        options.keys = try JournalKeys(file: folder("journal.key"))
        try LMDBJournal(directory: folder("sealed.journal"), options: options).close()
        let port = try #require(mock.managementPort)
        let flags = ["--journal", folder("sealed.journal"), "--trust", mock.trust, "--bundle-id", "com.example.app"]
        let enough = try await run("list", mock: mock, flags: flags + ["--endpoint", "https://127.0.0.1:\(port)"])
        #expect(enough.status == 0 && enough.errors.contains("has no channels"), "\(enough)")
        let short = try await run("list", mock: mock, flags: flags)
        #expect(short.status == 78, "\(short)")
        for word in ["sealed with key", "--config", "--key-file", "--endpoint"] {
            #expect(short.errors.contains(word), "\(short.errors)")
        }
        let withKey = try await run("list", mock: mock, flags: flags + ["--key-file", folder("journal.key")])
        #expect(withKey.status == 64 && withKey.errors.contains("no journal remembers one"), "\(withKey)")
        _ = try await mock.stop()
    }

    @Test("A channel is created, listed, shown and deleted")
    func life() async throws {
        let mock = try await mock()
        let created = try await run("create", "--storage", "none", mock: mock)
        #expect(created.status == 0 && created.errors.isEmpty, "\(created.errors)")
        let id = String(created.output.dropLast())
        let second = try await run("create", "--storage", "most-recent", "--json", mock: mock).json()
        #expect(second["bundleID"] as? String == "com.example.app" && second["storage"] as? String == "most-recent")
        let other = try #require(second["channel"] as? String)

        let list = try await run("list", mock: mock).output
        #expect(Set(list.split(separator: "\n").map(String.init)) == [id, other])
        let lines = try await run("list", "--json", mock: mock).output.split(separator: "\n")
        #expect(lines.contains(#"{"channel":"\#(id)"}"#) && lines.count == 2)

        let shown = try await run("show", id, "--json", mock: mock).output
        #expect(
            shown == #"{"bundleID":"com.example.app","channel":"\#(id)","pushType":"LiveActivity","storage":"none"}"#
                + "\n")
        let deleted = try await run("delete", id, other, "--yes", mock: mock)
        #expect(deleted.output == "deleted \(id)\ndeleted \(other)\n")
        let empty = try await run("list", mock: mock)
        #expect(empty.status == 0 && empty.output.isEmpty && empty.errors.contains("com.example.app has no channels"))
        let gone = try await run("show", id, mock: mock)
        #expect(gone.status == 1 && gone.errors.contains("ChannelNotRegistered"))
        #expect(try await mock.stop().output.contains(#""managed":"#))
    }

    @Test("Without --yes and without a terminal nothing is deleted")
    func consent() async throws {
        let mock = try await mock("--channel", "com.example.app=YWJj")
        let refused = try await run("delete", "YWJj", mock: mock)
        #expect(refused.status == 64 && refused.errors.contains("--yes"))
        #expect(try await run("list", mock: mock).output == "YWJj\n")
    }

    @Test("What the service says becomes an exit code")
    func codes() async throws {
        try folder.write(
            "script",
            """
            steps:
              - when: { address: management, topic: com.example.busy }
                answer: Service Unavailable
              - when: { address: management, topic: com.example.key }
                answer: InvalidProviderToken
              - when: { address: management, topic: com.example.lost }
                answer: accepted-in-silence
                then: close
            """)
        let mock = try await mock("--channel-limit", "0", "--script", folder("script"))
        let port = try #require(mock.managementPort)
        for (app, status, word) in [
            ("busy", 69, "Service Unavailable"), ("key", 78, "InvalidProviderToken"), ("lost", 1, "may have been"),
            ("full", 1, "CannotCreateChannelConfig"),
        ] {
            let result = try await run(
                "create", "--storage", "none", mock: mock,
                flags: [
                    "--endpoint", "https://127.0.0.1:\(port)", "--trust", mock.trust, "--bundle-id",
                    "com.example.\(app)",
                ])
            #expect(result.status == Int32(status) && result.errors.contains(word), "\(app): \(result.errors)")
            #expect(result.output.isEmpty)
        }
        let nobody = try await run(
            "list", mock: mock, flags: ["--endpoint", "https://127.0.0.1:1", "--bundle-id", "com.example.app"])
        #expect(nobody.status == 69)
    }

    @Test("Commands one after the other use one provider token, without a journal and with one")
    func oneToken() async throws {
        let mock = try await mock("--verify-tokens")
        try folder.write(
            "c.yaml",
            """
            journal: {path: \(folder("journal"))}
            routes:
              - topics: [com.example.app, com.example.app.push-type.liveactivity]
                endpoint: \(mock.endpoint)
                channels-endpoint: https://127.0.0.1:\(try #require(mock.managementPort))
                trust: \(mock.trust)
                signing-key: {file: \(folder("certs/AuthKey.p8")), key-id: MOCKKEYID1, team-id: MOCKTEAMID}
            """)
        let flags = ["--config", folder("c.yaml")]
        for _ in 0..<2 { #expect(try await run("list", mock: mock, flags: flags).status == 0) }
        let cached = folder("cache/holdfast/apns-token-MOCKTEAMID-MOCKKEYID1")
        let first = try Data(contentsOf: URL(fileURLWithPath: cached))
        let mode = try FileManager.default.attributesOfItem(atPath: cached)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await run("list", mock: mock, flags: flags).status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: cached)) == first)

        // From here on there is a journal, in which the engine has left its own.
        try FileManager.default.removeItem(atPath: folder("cache"))
        try folder.write("in", #"{"token":"abcd","apns-topic":"com.example.app","payload":{}}"#)
        let sent = try await Tool.run("send", folder("in"), "--config", folder("c.yaml"))
        #expect(sent.status == 0, "\(sent.errors)")
        let listed = try await run("list", mock: mock, flags: flags)
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(!FileManager.default.fileExists(atPath: cached), "a token was made beside the journal's")
    }

    @Test("The route that serves the app is the one whose credentials are used, or the one that is named")
    func routes() async throws {
        let mock = try await mock("--verify-tokens")
        let management = try #require(mock.managementPort)
        func route(_ name: String, _ topic: String, _ keyID: String) -> String {
            """
              - name: \(name)
                topics: [\(topic)]
                endpoint: \(mock.endpoint)
                channels-endpoint: https://127.0.0.1:\(management)
                trust: \(mock.trust)
                signing-key: {file: \(folder("certs/AuthKey.p8")), key-id: \(keyID), team-id: MOCKTEAMID}
            """
        }
        try folder.write(
            "c.yaml",
            "routes:\n" + route("one", "com.example.one", "OTHERKEYID") + "\n"
                + route("two", "com.example.two", "MOCKKEYID1"))
        let config = ["--config", folder("c.yaml")]
        let served = try await run("list", mock: mock, flags: config + ["--bundle-id", "com.example.two"])
        #expect(served.status == 0, "\(served.errors)")
        let other = try await run("list", mock: mock, flags: config + ["--bundle-id", "com.example.one"])
        #expect(other.status == 78 && other.errors.contains("InvalidProviderToken"))
        let unnamed = try await run("list", mock: mock, flags: config)
        #expect(unnamed.status == 64 && unnamed.errors.contains("one, two"))
        try folder.write("many.yaml", "routes:\n" + route("one", "com.example.one, com.example.two", "MOCKKEYID1"))
        let several = try await run("list", mock: mock, flags: ["--config", folder("many.yaml")])
        #expect(several.status == 64 && several.errors.contains("--bundle-id"), "\(several.errors)")
        let suffix = "com.example.one, com.example.one.push-type.liveactivity"
        try folder.write("same.yaml", "routes:\n" + route("one", suffix, "MOCKKEYID1"))
        let same = try await run("list", mock: mock, flags: ["--config", folder("same.yaml")])
        #expect(same.status == 0, "\(same.errors)")
        let named = try await run("list", mock: mock, flags: config + ["--route", "two"])
        #expect(named.status == 0, "\(named.errors)")
        let unknown = try await run("list", mock: mock, flags: config + ["--route", "three"])
        #expect(unknown.status == 64 && unknown.errors.contains("three"))
    }

    @Test("Without a configuration, what the journal remembers says where and as whom")
    func remembered() async throws {
        let mock = try await mock()
        try folder.write("in", #"{"token":"abcd","payload":{}}"#)
        let sent = try await Tool.run(
            "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--topic", "com.example.app")
        #expect(sent.status == 0, "\(sent.errors)")
        let unknown = try await run("list", mock: mock, flags: ["--journal", folder("j")])
        #expect(unknown.status == 78 && unknown.errors.contains("name the endpoint"), "\(unknown.errors)")
        let port = try #require(mock.managementPort)
        let listed = try await run(
            "list", mock: mock, flags: ["--journal", folder("j"), "--endpoint", "https://127.0.0.1:\(port)"])
        #expect(listed.status == 0, "\(listed.errors)")
    }

    @Test(
        "Flags that make no sense are named",
        arguments: [
            (["create"], "--storage"), (["create", "--storage", "some"], "some"), (["show", "no base64"], "base64"),
            (["delete"], "channel"), (["list"], "--endpoint"), (["list", "--endpoint", "sandbox"], "--bundle-id"),
            (["list", "--endpoint", "nowhere", "--bundle-id", "a"], "nowhere"),
            (["list", "--endpoint", "sandbox", "--bundle-id", "a/b"], "bundle id"),
            (["list", "--endpoint", "sandbox", "--bundle-id", "a", "--key-id", "x"], "--key"),
        ])
    func badFlags(_ arguments: [String], _ word: String) async throws {
        let result = try await Tool.start(
            ["channels"] + arguments, environment: ["XDG_CACHE_HOME": folder("cache"), "HOLDFAST_CONFIG": ""]
        ).result()
        #expect([64, 78].contains(result.status) && result.errors.contains(word), "\(result.status) \(result.errors)")
    }
}
