import Foundation
import Holdfast
import Scratch
import Testing

@Suite("holdfast doctor", .serialized)
struct DoctorCommandTests {
    private static let nobody = String(repeating: "0", count: 64)

    /// What a run has found, by area and check.
    private struct Report {
        let status: Int32
        let output: String
        let findings: [[String: Any]]

        init(_ result: Tool.Result) throws {
            (status, output) = (result.status, result.output + result.errors)
            findings = try #require(try result.json()["findings"] as? [[String: Any]], "\(output)")
        }

        func level(_ area: String, _ check: String) -> String? {
            findings.first { $0["area"] as? String == area && $0["check"] as? String == check }?["level"] as? String
        }

        func found(_ check: String) -> String {
            findings.filter { $0["check"] as? String == check }.compactMap { $0["found"] as? String }.joined(
                separator: "; ")
        }

        var faults: [[String: Any]] { findings.filter { $0["level"] as? String == "fault" } }
    }

    private func doctor(_ world: ServiceWorld, _ flags: String...) async throws -> Report {
        // Provider tokens that a run leaves are the world's own.
        try Report(
            try await Tool.start(
                ["doctor", "--config", world.folder("holdfast.yaml"), "--json"] + flags,
                environment: ["XDG_CACHE_HOME": world.folder("cache")]
            ).result())
    }

    private func world(_ flags: String...) async throws -> ServiceWorld {
        try await ServiceWorld(mockFlags: flags + ["--reject", "\(Self.nobody)=BadDeviceToken"])
    }

    @discardableResult
    private func run(_ program: String, _ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test(
        "Beside a running service it finds no fault, changes nothing, and nothing reaches a device; text and JSON agree"
    )
    func well() async throws {
        let world = try await world("--verify-tokens")
        try await world.serve()
        let report = try await doctor(world)
        #expect(report.faults.isEmpty, "\(report.output)")
        #expect([0, 1].contains(report.status), "\(report.status)")
        for (area, check) in [
            ("configuration", "file"), ("files", "rights"), ("journal", "journal"), ("journal", "room"),
            ("disk", "space"),
            ("service", "answer"), ("descriptors", "open-files"), ("listeners", "certificate"),
            ("routes", "credentials"),
            ("routes", "addresses"), ("routes", "connection"), ("routes", "probe"), ("routes", "clock"),
            ("limits", "window"),
        ] { #expect(report.level(area, check) == "ok", "\(area) \(check): \(report.output)") }
        #expect(report.found("journal").contains("in use by process"))
        #expect(report.found("connection").contains("signed by"))
        #expect(try world.mock.taken() == 0)
        let text = try await Tool.run("doctor", "--config", world.folder("holdfast.yaml"), "--no-network")
        #expect(text.status == report.status, "\(text.output)")
        #expect(text.output.contains("routes\n  skipped  network example: nothing was connected to"), "\(text.output)")
        #expect(!text.output.contains("\u{1B}"))
        let quiet = try await doctor(world, "--no-probe")
        #expect(quiet.level("routes", "probe") == "skipped" && quiet.level("routes", "connection") == "ok")
        #expect(try await world.stop().status == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: world.folder("push.journal"))
        #expect(!left.contains { $0.contains("doctor") }, "\(left)")
    }

    @Test("A wrong key, a wrong name, a clock that is off, and rights that are wrong are found, each in its place")
    func faults() async throws {
        let world = try await world("--verify-tokens")
        // Another key under the same identifier.
        #expect(
            try run(
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                world.folder("certs/AuthKey.p8")) == 0)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: world.folder("certs/AuthKey.p8"))
        let key = try await doctor(world)
        #expect(key.status == 78)
        #expect(
            key.level("routes", "probe") == "fault" && key.found("probe").contains("InvalidProviderToken"),
            "\(key.output)")
        #expect(key.level("files", "secrets") == "warning", "\(key.output)")
        try world.writeConfiguration(route: "    server-name: push.example.com")
        let name = try await doctor(world)
        #expect(name.level("routes", "connection") == "fault", "\(name.output)")
        #expect(name.found("connection").contains("another host name"), "\(name.output)")
    }

    @Test("The clock is compared with the service's Date")
    func clock() async throws {
        let folder = try TemporaryFolder()
        let date = Date().addingTimeInterval(3600)
        let format = DateFormatter()
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "GMT"))
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        try folder.write(
            "script.yaml",
            """
            steps:
              - answer: {status: 400, headers: {date: "\(format.string(from: date))"}, body: '{"reason":"BadDeviceToken"}'}
            """)
        let world = try await ServiceWorld(mockFlags: ["--script", folder("script.yaml")])
        let report = try await doctor(world)
        #expect(report.level("routes", "clock") == "fault", "\(report.output)")
        #expect(report.found("clock").contains("behind the service's"), "\(report.output)")
        #expect(report.level("routes", "probe") == "ok")
    }

    @Test("A certificate of the service that has expired is told with its date")
    func expired() async throws {
        let world = try await world()
        #expect(
            try run(
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                world.folder("x.key")) == 0)
        #expect(
            try run(
                "openssl", "req", "-new", "-key", world.folder("x.key"), "-subj", "/CN=localhost", "-out",
                world.folder("x.csr")) == 0)
        try world.folder.write(
            "x.ext", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\nkeyUsage=digitalSignature\n")
        #expect(
            try run(
                "openssl", "x509", "-req", "-in", world.folder("x.csr"), "-signkey", world.folder("x.key"), "-days",
                "-1",
                "-extfile", world.folder("x.ext"), "-out", world.folder("x.pem")) == 0)
        let server = try RunningTool(
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", world.folder("x.pem"), "-key", world.folder("x.key"),
                "-alpn", "h2",
            ],
            pipe: Pipe(), program: "/usr/bin/openssl")
        #expect(try await waitUntil { try server.output.contains("ACCEPT 127.0.0.1:") })
        let port = try server.output.split(separator: "\n").first { $0.hasPrefix("ACCEPT") }?.split(separator: ":").last
        try world.folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal}
            routes: [{endpoint: "https://127.0.0.1:\(port ?? "0")", trust: x.pem, topics: [com.example.app]}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        let report = try await doctor(world)
        #expect(report.level("routes", "connection") == "fault", "\(report.output)")
        let year = Calendar(identifier: .gregorian).component(.year, from: Date().addingTimeInterval(-86_400))
        #expect(report.found("connection").contains("has expired (on \(year)-"), "\(report.output)")
        server.kill(SIGTERM)
    }

    @Test(
        "A name without an address, an address where nobody listens, and a configuration with mistakes are found in seconds"
    )
    func unreachable() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal}
            routes:
              - {name: a, endpoint: "https://nowhere.invalid", topics: [a]}
              - {name: b, endpoint: "https://127.0.0.1:1", topics: [b], connections: many}
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        let report = try Report(
            try await Tool.run("doctor", "--config", folder("holdfast.yaml"), "--json", limit: .seconds(30)))
        #expect(report.status == 78)
        #expect(report.level("configuration", "mistake") == "fault" && report.found("mistake").contains("many"))
        #expect(report.level("routes", "name") == "fault", "\(report.output)")
        #expect(report.found("addresses").contains("Connection refused"), "\(report.output)")
        #expect(report.level("journal", "journal") == "ok", "\(report.output)")
    }

    @Test("What serve --check warns of, and a unit that can't start, are told without the network, too")
    func unasked() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal}
            routes: [{name: apple, endpoint: production, topics: [com.example.app]}]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            """)
        try folder.write("h.service", "[Service]\nUser=nosuchuser\nGroup=nosuch\n")
        let config = folder("holdfast.yaml")
        let check = try await Tool.run("serve", "--check", "--config", config)
        #expect(check.output.contains("warning: route apple has neither a signing-key"), "\(check)")
        let unit = ["--unit", folder("h.service")]
        let report = try Report(
            try await Tool.start(["doctor", "--config", config, "--no-network", "--json"] + unit).result())
        #expect(report.status == 78)
        #expect(report.level("routes", "credentials") == "fault", "\(report.output)")
        #expect(report.level("routes", "network") == "skipped")
        #expect(report.level("files", "unit") == "fault", "\(report.output)")
        #expect(report.found("unit").contains("User=nosuchuser") && report.found("unit").contains("Group=nosuch"))
    }

    @Test("A configuration that can't be read, and a unit that is not there, are findings among others")
    func unread() async throws {
        let folder = try TemporaryFolder()
        try folder.write("broken.yaml", "journal: {path: [")
        for file in ["nope.yaml", ".", "broken.yaml"] {
            let report = try Report(
                try await Tool.run(
                    "doctor", "--config", folder(file), "--journal", folder("push.journal"), "--unit", folder("nope"),
                    "--json"))
            #expect(report.status == 78)
            #expect(report.level("configuration", "mistake") == "fault", "\(report.output)")
            #expect(report.level("configuration", "rest") == "skipped")
            #expect(report.level("files", "unit") == "warning")
            // Nothing is said of what the defaults would take.
            #expect(report.level("descriptors", "open-files") == nil && report.level("limits", "stop") == nil)
            #expect(report.level("journal", "journal") == "ok" && report.level("disk", "sync-time") != nil)
        }
    }

    @Test("A key that is not there is told once; servers that are none are told with what to see to")
    func others() async throws {
        let world = try await world()
        let plain = try await NoTLSServer("HTTP/1.1 400 Bad Request\r\n\r\n")
        let closing = try await NoTLSServer("")
        try FileManager.default.removeItem(atPath: world.folder("certs/AuthKey.p8"))
        try world.writeConfiguration(
            route: """
                  - {name: plain, endpoint: "https://127.0.0.1:\(plain.port)", topics: [b]}
                  - {name: closing, endpoint: "https://127.0.0.1:\(closing.port)", topics: [c]}
                """)
        let report = try await doctor(world)
        #expect(report.level("configuration", "mistake") == "fault")
        #expect(!report.faults.contains { $0["check"] as? String == "credentials" }, "\(report.output)")
        #expect(!report.output.contains("Is a directory") && !report.output.contains("NIOSSL"), "\(report.output)")
        let nexts = report.findings.filter { $0["check"] as? String == "connection" }.compactMap {
            $0["next"] as? String
        }
        #expect(nexts.count == 2 && nexts.allSatisfy { $0.contains("port") }, "\(report.output)")
        #expect(report.found("connection").contains("signed by"), "\(report.output)")
        try await plain.close()
        try await closing.close()
    }

    @Test(
        "A full disk, and files that the service's user may not read, are found",
        .enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")))
    func places() async throws {
        let world = try await world()
        try FileManager.default.createDirectory(atPath: world.folder("small"), withIntermediateDirectories: true)
        let script = #"""
            unshare -m true || exit 126
            exec unshare -m sh -c \
                'mount -t tmpfs -o size=1m tmpfs "$1" && { cat /dev/zero >"$1/fill" 2>/dev/null; exec "$0" doctor --journal "$1/j" --json; }' "$0" "$@"
            """#
        let full = try RunningTool(["-c", script, Tool.path, world.folder("small")], program: "/bin/sh")
        let result = try await full.result()
        if result.status != 126 {
            let report = try Report(result)
            // Nothing is there that could have room of its own.
            #expect(report.level("disk", "space") == "fault", "\(report.output)")
            #expect(report.level("disk", "sync-time") == "skipped", "\(report.output)")
            #expect(report.level("disk", "file-system") == "warning", "\(report.output)")
        }
        // The journal is another user's, and the key root's alone.
        try await world.serve()
        _ = try await world.stop()
        #expect(try run("chown", "-R", "nobody", world.folder("push.journal")) == 0)
        let report = try await doctor(world, "--no-network")
        #expect(report.level("files", "rights") == "fault", "\(report.output)")
        #expect(report.found("rights").contains("nobody can't read it"), "\(report.output)")
    }

    @Test("An address that another process has is a fault, and the running service's own is none")
    func addresses() async throws {
        let world = try await world()
        let other = try await NoTLSServer("")
        let config = try world.folder.read("holdfast.yaml")
        func configure(http2: Int, admin: Int) throws {
            try world.folder.write(
                "holdfast.yaml",
                config.replacing("http2: {listen: \"127.0.0.1:0\"", with: "http2: {listen: \"127.0.0.1:\(http2)\"")
                    .replacing("admin: {listen: \"127.0.0.1:0\"", with: "admin: {listen: \"127.0.0.1:\(admin)\""))
        }
        try await world.serve()
        let own = try #require(try world.port("serving http2 on "))
        try configure(http2: own, admin: other.port)
        let report = try await doctor(world, "--no-network")
        let addresses = report.findings.filter { $0["check"] as? String == "address" }
        #expect(addresses.map { $0["level"] as? String } == ["ok", "fault"], "\(report.output)")
        #expect(report.found("address").contains("the running service listens on 127.0.0.1:\(own)"), "\(report.output)")
        #expect(report.found("address").contains("127.0.0.1:\(other.port) is taken by process "), "\(report.output)")
        #expect(report.status == 78)
        let check = try await Tool.run("serve", "--check", "--config", world.folder("holdfast.yaml"))
        #expect(
            check.status == 0 && check.output.contains("listener admin: 127.0.0.1:\(other.port) is taken"), "\(check)")
        #expect(!check.output.contains("listener http2"), "\(check.output)")
        _ = try await world.stop()
        try await other.close()
        let free = try await doctor(world, "--no-network")
        #expect(free.level("listeners", "address") == "ok" && free.faults.isEmpty, "\(free.output)")
        let refused = try await NoTLSServer("")
        try configure(http2: refused.port, admin: 0)
        #expect(try await doctor(world, "--no-network").level("listeners", "address") == "fault")
        let serve = try await Tool.run("serve", "--config", world.folder("holdfast.yaml"))
        #expect(serve.status == 69, "\(serve.errors)")
        try await refused.close()
    }

    @Test(
        "Root's check says what the service's user can't read, a file system for reading only is named, and so is one without room",
        .enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")))
    func service() async throws {
        let world = try await world()
        try world.folder.write("operators", "0123456789abcdef0123456789abcdef\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.folder("operators"))
        try world.writeConfiguration(admin: ", token-file: operators")
        try await world.serve()
        _ = try await world.stop()
        let config = world.folder("holdfast.yaml")
        #expect(!(try await Tool.run("serve", "--check", "--config", config)).output.contains("can't read"))
        #expect(try run("chown", "-R", "nobody", world.folder("push.journal")) == 0)
        let check = try await Tool.run("serve", "--check", "--config", config)
        #expect(check.output.contains("the service's user nobody can't read \(world.folder("operators"))"), "\(check)")
        let script = #"""
            unshare -m true || exit 126
            exec unshare -m sh -c \
                'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$0" doctor --no-network --config "$2" --json' "$0" "$@"
            """#
        let tool = try RunningTool(
            ["-c", script, Tool.path, world.folder("push.journal"), config], program: "/bin/sh")
        let result = try await tool.result()
        if result.status != 126 {
            let report = try Report(result)
            #expect(report.level("journal", "journal") == "fault", "\(report.output)")
            #expect(report.found("journal").contains("mounted for reading only"), "\(report.output)")
            #expect(!report.output.contains("chown -R"), "\(report.output)")
        }
        let full = #"""
            unshare -m true || exit 126
            exec unshare -m sh -c 'mkdir "$1" && mount -t tmpfs -o size=200m tmpfs "$1" && {
                cat /dev/zero >"$1/fill" 2>/dev/null
                "$0" serve --check --config "$2" --journal "$1/j"; echo "$?"
                "$0" doctor --no-network --config "$2" --journal "$1/j" --json; }' "$0" "$@"
            """#
        let filled = try await RunningTool(
            ["-c", full, Tool.path, world.folder("small"), config], program: "/bin/sh"
        ).result()
        if filled.status != 126 {
            #expect(filled.output.contains("can't be made: the file system"), "\(filled.output)")
            #expect(filled.output.contains("\n74\n") && filled.status == 78, "\(filled.output)")
            #expect(!filled.output.contains("the room that the journal has already"), "\(filled.output)")
        }
    }
}
