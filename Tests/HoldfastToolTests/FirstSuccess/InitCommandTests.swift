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
        #expect(result.errors.contains("chmod g+x") && !FileManager.default.fileExists(atPath: folder("shut/etc")))

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

    @Test("A signal leaves no staging directory, and what a killed one left goes away", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let stale = "etc/.init-0123abcd"
        try FileManager.default.createDirectory(atPath: folder(stale), withIntermediateDirectories: true)
        try folder.write("\(stale)/AuthKey.p8", "left")
        let running = try Tool.start(
            ["init"] + route + ["--directory", folder("etc"), "--http2", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
        // It may be done before the signal comes: then all is there.
        _ = try await waitUntil {
            try FileManager.default.contentsOfDirectory(atPath: folder("etc")).contains {
                $0.hasPrefix(".init-") && !stale.hasSuffix($0)
            } || !running.isRunning
        }
        running.kill(signal)
        let status = try await running.result().status
        #expect([0, 128 + signal].contains(status))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("etc"))
        #expect(!names.contains { $0.hasPrefix(".init-") }, "\(names)")
        #expect(names.contains("holdfast.yaml") == names.contains("AuthKey.p8"), "\(names)")
    }

    @Test("What is no file is refused at once, and a stream is read")
    func sources() async throws {
        _ = try await RunningTool([folder("fifo")], program: "/usr/bin/mkfifo").result()
        try FileManager.default.createDirectory(atPath: folder("keys"), withIntermediateDirectories: false)
        for (name, words) in [("fifo", "no regular file"), ("keys", "is a directory")] {
            let result = try await make("--key", folder(name))
            #expect(result.status == 66 && result.errors.contains("\(folder(name)) is"), "\(result.errors)")
            #expect(result.errors.contains(words) && !FileManager.default.fileExists(atPath: folder("etc")))
        }
        try folder.write("bad.p8", "no key")
        let named = try await make("--key", folder("bad.p8"))
        #expect(named.errors.contains(folder("bad.p8")) && !named.errors.contains(".init-"), "\(named.errors)")
        let places = ["--directory", folder("etc"), "--http2", "127.0.0.1:0", "--key", "/dev/stdin"]
        let streamed = try await Tool.start(["init"] + route + places, input: folder.read("certs/AuthKey.p8")).result()
        #expect(streamed.status == 0, "\(streamed.errors)")
        #expect(try folder.read("etc/AuthKey.p8") == folder.read("certs/AuthKey.p8"))
    }

    @Test("Whatever the umask, nobody else may write, and parents that were made for nothing go again")
    func parents() async throws {
        let flags = route + ["--directory", folder("a/b/my etc"), "--http2", "127.0.0.1:0"]
        let command = "umask 000; exec \"$0\" \"$@\""
        let made = try await RunningTool(["-c", command, Tool.path, "init"] + flags, program: "/bin/sh").result()
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains("holdfast serve --config '\(folder("a/b/my etc/holdfast.yaml"))'"))
        #expect(!made.output.contains("systemctl"))
        for name in ["a", "a/b", "a/b/my etc", "a/b/my etc/tls"] { #expect(try mode(name) == 0o700, "\(name)") }
        try folder.write("bad.p8", "no key")
        let failed = try await make("--key", folder("bad.p8"), directory: "x/y/etc")
        #expect(failed.status == 78 && !FileManager.default.fileExists(atPath: folder("x")), "\(failed.errors)")
        let file = try await make(directory: "bad.p8/etc")
        #expect(file.status == 73 && file.errors.contains("bad.p8 is not a directory"), "\(file.errors)")
        let certificate = try await RunningTool(
            ["-c", command, Tool.path, "gateway", "certificate", "--directory", folder("c/tls")], program: "/bin/sh"
        ).result()
        #expect(certificate.status == 0, "\(certificate.errors)")
        #expect(try mode("c") == 0o755 && mode("c/tls") == 0o755)
    }

    @Test("Of several at once one makes it, and the others say why not")
    func several() async throws {
        let flags = route + ["--directory", folder("etc"), "--http2", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        let all = try (0..<4).map { _ in try Tool.start(["init"] + flags) }
        var statuses: [Int32] = []
        for one in all { statuses.append(try await one.result().status) }
        #expect(statuses.sorted() == [0, 73, 73, 73])
        #expect(try await Tool.run("serve", "--check", "--config", folder("etc/holdfast.yaml")).status == 0)
    }

    @Test("No advice takes a directory from others", .enabled(if: geteuid() == 0))
    func advice() async throws {
        let open = URL(fileURLWithPath: "/tmp/holdfast-init-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: open) }
        try FileManager.default.createDirectory(atPath: "\(open)/others", withIntermediateDirectories: true)
        for place in [open, "\(open)/others"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
        }
        try Data().write(to: URL(fileURLWithPath: "\(open)/others/file"))
        for journal in ["\(open)/others", "\(open)/others/j", "/"] {
            let result = try await Tool.start(
                ["init"] + route + ["--user", "nobody", "--directory", "\(open)/etc", "--journal", journal]
            ).result()
            #expect(result.status == 77 && result.errors.contains("choose another --journal"), "\(result.errors)")
            #expect(!result.errors.contains("chown"), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(open)/etc"))
        }
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
