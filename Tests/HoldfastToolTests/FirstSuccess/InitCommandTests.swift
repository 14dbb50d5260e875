import Foundation
import Holdfast
import Scratch
import Testing

@Suite("holdfast init", .serialized)
struct InitCommandTests {
    private let folder: TemporaryFolder
    private let mock: MockProcess

    init() async throws {
        folder = try TemporaryFolder()
        mock = try await MockProcess("--verify-tokens", in: folder)
    }

    /// This user's own service, whoever that is.
    private static let user: String = NSUserName()

    private var route: [String] {
        [
            "--topic", "com.example.app", "--endpoint", mock.endpoint, "--trust", mock.trust, "--key",
            folder("certs/AuthKey.p8"), "--key-id", "MOCKKEYID1", "--team-id", "MOCKTEAMID", "--user", Self.user,
        ]
    }

    private func make(_ flags: String..., directory: String = "etc") async throws -> Tool.Result {
        let places = ["--directory", folder(directory), "--http2", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        return try await Tool.start(["init"] + route + places + flags).result()
    }

    private func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("It makes what serve needs, names each thing, and a notification goes through it")
    func makes() async throws {
        let made = try await make()
        #expect(made.status == 0, "\(made.errors)")
        for name in ["AuthKey.p8", "ca.pem", "tls/ca.pem", "tls/server.key", "tls/server.pem", "holdfast.yaml"] {
            #expect(made.output.contains(folder("etc/\(name)")), "\(name) is not named in \(made.output)")
        }
        #expect(made.output.contains("holdfast serve --config \(folder("etc/holdfast.yaml"))"))
        for name in ["etc/AuthKey.p8", "etc/tls/ca.key", "etc/tls/server.key", "etc/holdfast.yaml"] {
            #expect(try mode(name) == 0o600, "\(name)")
        }
        #expect(try mode("etc") == 0o700 && mode("etc/tls") == 0o700 && mode("etc/tls/ca.pem") == 0o644)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: folder("etc")).contains { $0.hasPrefix(".") })
        let config = ["--config", folder("etc/holdfast.yaml")]
        #expect(try await Tool.start(["config", "check"] + config).result().status == 0)
        let check = try await Tool.start(["serve", "--check", "--json"] + config).result()
        #expect(try check.json()["usable"] as? Bool == true && (check.json()["warnings"] as? [String])?.isEmpty == true)

        let service = try Tool.start(["serve"] + config)
        let log = "serving http2 on "
        let serves = try await waitUntil { try service.errors.contains(log) || !service.isRunning }
        let lines = try service.errors
        try #require(serves && service.isRunning, "\(lines)")
        let port = try #require(
            lines.split(separator: "\n").first { $0.contains(log) }?.split(separator: ":").last.map(String.init))
        let command =
            "curl -s -o /dev/null -w '%{http_code}' --http2 --cacert \(folder("etc/tls/ca.pem")) -H 'apns-topic: com.example.app' "
            + "-d '{\"aps\":{\"alert\":\"Hi\"}}' https://127.0.0.1:\(port)/3/device/00fc13ad"
        let answer = try await RunningTool(["-c", command], program: "/bin/sh").result()
        #expect(answer.output == "200", "\(answer.output)\(answer.errors)")
        let isTaken = try await waitUntil { try mock.taken() == 1 }
        #expect(isTaken)
        service.kill(SIGTERM)
        #expect(try await service.result().status == 0)
    }

    @Test("What is there stays unless --replace is said, which keeps the authority and the journal")
    func replaces() async throws {
        #expect(try await make().status == 0)
        let names = ["etc/holdfast.yaml", "etc/tls/ca.pem", "etc/tls/server.pem"]
        try folder.write("etc/holdfast.yaml", "# mine")
        let before = try names.map { try folder.read($0) }
        let refused = try await make()
        #expect(refused.status == 73, "\(refused.errors)")
        for name in ["holdfast.yaml", "AuthKey.p8", "tls/server.pem"] {
            #expect(refused.errors.contains(folder("etc/\(name)")), "\(refused.errors)")
        }
        #expect(try names.map { try folder.read($0) } == before)
        let replaced = try await make("--replace")
        #expect(replaced.status == 0, "\(replaced.errors)")
        let after = try names.map { try folder.read($0) }
        #expect(after[0] != before[0] && after[1] == before[1] && after[2] != before[2])
    }

    @Test("A configuration that can't be served is not made, and nothing is left of it")
    func refuses() async throws {
        try folder.write("bad.p8", "no key")
        for flags in [
            ["--key", folder("bad.p8")], ["--endpoint", "ftp://example.com"], ["--http2", "none"],
            ["--http2", "127.0.0.1:2197", "--admin", "127.0.0.1:2197"],
        ] {
            // Of a flag that comes twice the last one counts.
            let result = try await Tool.start(["init"] + route + ["--directory", folder("new/etc")] + flags).result()
            #expect(result.status == 78, "\(flags): \(result.status) \(result.errors)")
            #expect(result.errors.contains("nothing was made"), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder("new/etc")), "\(flags)")
        }
        let missing = try await Tool.start(
            ["init"] + route + ["--directory", folder("new/etc"), "--key", folder("none.p8")]
        ).result()
        #expect(missing.status == 66 && missing.errors.contains("none.p8 does not exist"), "\(missing.errors)")
    }

    @Test("Without a terminal, the flags that are missing are named")
    func missing() async throws {
        let nothing = try await Tool.run("init", "--directory", folder("etc"))
        #expect(nothing.status == 64)
        for flag in ["--topic", "--key", "--certificate"] {
            #expect(nothing.errors.contains(flag), "\(nothing.errors)")
        }
        let key = try await Tool.run(
            "init", "--topic", "a", "--key", folder("certs/AuthKey.p8"), "--directory", folder("etc"))
        #expect(key.status == 64 && key.errors.contains("--key-id") && key.errors.contains("--team-id"))
        #expect(!FileManager.default.fileExists(atPath: folder("etc")))
    }

    @Test("Apple's name of a key's file has its identifier, and a certificate is copied with its key and passphrase")
    func credentials() async throws {
        try FileManager.default.copyItem(atPath: folder("certs/AuthKey.p8"), toPath: folder("AuthKey_ABC123DEFG.p8"))
        let key = try await Tool.run(
            "init", "--topic", "a.b", "--key", folder("AuthKey_ABC123DEFG.p8"), "--team-id", "DEF123GHIJ", "--user",
            Self.user, "--directory", folder("key"))
        #expect(key.status == 0, "\(key.errors)")
        #expect(
            try folder.read("key/holdfast.yaml").contains(
                "signing-key: {file: AuthKey_ABC123DEFG.p8, key-id: ABC123DEFG, team-id: DEF123GHIJ}"))
        let binary = try await MockProcess("--client-certificate", kind: "binary", in: TemporaryFolder())
        let certificate = try await Tool.run(
            "init", "--topic", "a.b", "--topic", "c.d", "--endpoint", "sandbox", "--certificate",
            binary.folder("certs/client.pem"), "--certificate-key", binary.folder("certs/client.key"), "--user",
            Self.user,
            "--directory", folder("pem"), "--binary", "127.0.0.1:2195", "--client", "orders", "--json")
        #expect(certificate.status == 0, "\(certificate.errors)")
        let yaml = try folder.read("pem/holdfast.yaml")
        #expect(
            yaml.contains("certificate: {file: client.pem, key: client.key}") && yaml.contains("topics: [a.b, c.d]"))
        #expect(yaml.contains("\n  binary: {listen: \"127.0.0.1:2195\"") && yaml.contains("clients: tls/ca.pem"))
        #expect(try certificate.json()["configuration"] as? String == folder("pem/holdfast.yaml"))
    }

    @Test("By root, a service's user can read its keys, and others can't", .enabled(if: geteuid() == 0))
    func rights() async throws {
        let account = "nobody"
        // A directory that nobody else may enter: that is said, and what to do.
        try FileManager.default.createDirectory(
            atPath: folder("shut"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let result = try await Tool.start(
            ["init"] + route
                + ["--user", account, "--directory", folder("shut/etc"), "--journal", folder("var/push.journal")]
        ).result()
        #expect(result.status == 77 && result.errors.contains("user nobody can't enter"), "\(result.errors)")
        #expect(result.errors.contains("chmod g+rx") && !FileManager.default.fileExists(atPath: folder("shut/etc")))

        let open = URL(fileURLWithPath: "/tmp/holdfast-init-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: open) }
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: open)
        let made = try await Tool.start(
            ["init"] + route + [
                "--user", account, "--directory", "\(open)/etc", "--journal", "\(open)/var/push.journal",
            ]
        ).result()
        #expect(made.status == 0, "\(made.errors)")
        let group = try #require(try owner("\(open)/var").group)
        for (name, user, reader, mode) in [
            ("etc", 0, group, 0o750), ("etc/AuthKey.p8", 0, group, 0o640), ("etc/tls/server.key", 0, group, 0o640),
            ("etc/holdfast.yaml", 0, group, 0o640), ("etc/tls/ca.key", 0, 0, 0o600),
        ] {
            let found = try owner("\(open)/\(name)")
            #expect(found.user == user && found.group == reader && found.mode == mode, "\(name): \(found)")
        }
        #expect(try owner("\(open)/var").mode == 0o700 && owner("\(open)/var").user != 0)

        // And what the other command makes there goes to the group of the directory.
        let certificate = try await Tool.run("gateway", "certificate", "--directory", "\(open)/etc/more")
        #expect(
            certificate.output.contains("more/server.key: readable by its owner and by group "), "\(certificate.errors)"
        )
        #expect(try owner("\(open)/etc/more/server.key").group == group)
        #expect(
            try owner("\(open)/etc/more/server.key").mode == 0o640 && owner("\(open)/etc/more/ca.key").mode == 0o600)
    }

    private func owner(_ path: String) throws -> (user: Int?, group: Int?, mode: Int?) {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        func number(_ key: FileAttributeKey) -> Int? { (attributes[key] as? NSNumber)?.intValue }
        return (number(.ownerAccountID), number(.groupOwnerAccountID), number(.posixPermissions))
    }

    @Test("A user or group that is not there is named")
    func accounts() async throws {
        let user = try await make("--user", "no-such-user")
        #expect(user.status == 64 && user.errors.contains("no user \"no-such-user\""), "\(user.errors)")
        let group = try await Tool.run(
            "gateway", "certificate", "--directory", folder("tls"), "--group", "no-such-group")
        #expect(group.status == 64 && group.errors.contains("no group \"no-such-group\""), "\(group.errors)")
    }
}
