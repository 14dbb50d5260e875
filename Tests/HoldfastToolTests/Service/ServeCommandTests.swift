import Foundation
import Holdfast
import NIOCore
import Scratch
import Testing

@Suite("holdfast serve", .serialized)
struct ServeCommandTests {
    @Test("What a sender was told is on disk is delivered; health and metrics say so; SIGTERM ends it with 0")
    func serves() async throws {
        let world = try await ServiceWorld()
        try await world.serve()
        #expect(try await world.get("/health/live").status == 200)
        let ready = try await world.get("/health/ready")
        #expect(ready.status == 200 && ready.text == "ready\n")
        let sent = try await world.send(500, journal: "sender").result()
        #expect(sent.status == 0, "\(sent.output)\(sent.errors)")
        #expect(try await waitUntil { try world.mock.taken() == 500 })
        let metrics = try await world.get("/metrics").text
        #expect(metrics.contains("\nholdfast_gateway_accepted_total{listener=\"http2\"} 500\n"), "\(metrics)")
        #expect(metrics.contains("\nholdfast_submitted_total 500\n"))
        #expect(metrics.contains("\nholdfast_ready 1\n"))
        let end = try await world.stop()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try end.count("left") == 0)
        #expect(try end.count("reopened") == 0)
    }

    @Test("A stop ends with 0 whoever is just asking for its health", .timeLimit(.minutes(3)))
    func endsUnderLoad() async throws {
        let world = try await ServiceWorld()
        for round in 0..<20 {
            let tool = try await world.serve()
            let answers = Monitor(0)
            await withTaskGroup(of: Void.self) { askers in
                for _ in 0..<4 {
                    askers.addTask {
                        // Until nobody listens any more.
                        do {
                            while true {
                                _ = try await world.ask("/health/ready")
                                answers.withLock { $0 += 1 }
                            }
                        } catch {}
                    }
                }
                #expect(await waitUntil { answers.withLock { $0 } > 8 })
                tool.kill(SIGTERM)
            }
            let end = try await tool.result()
            #expect(end.status == 0, "stop \(round): \(end.errors)")
        }
    }

    @Test("One that waits for an owner that was stopped says so, and ends at once when it is told to")
    func waitsForStopped() async throws {
        let world = try await ServiceWorld()
        let owner = try await world.serve()
        owner.kill(SIGSTOP)
        let waiting = try Tool.start(["serve", "--config", world.folder("holdfast.yaml"), "--json"])
        #expect(try await waitUntil { try waiting.errors.contains("it is waited for") })
        let words = try waiting.errors
        let process = owner.processIdentifier
        #expect(words.contains("is in use by process \(process) (holdfast, since "), "\(words)")
        #expect(words.contains("which is stopped (`kill -CONT \(process)` lets it go on)"), "\(words)")
        let start = ContinuousClock.now
        waiting.kill(SIGTERM)
        let end = try await waiting.result()
        #expect(end.status == 0 && ContinuousClock.now - start < .seconds(5), "\(end.errors)")
        owner.kill(SIGCONT)
        #expect(try await world.stop().status == 0)
    }

    @Test("The service manager is told when it is ready, reloads and ends, and that it lives")
    func notifies() async throws {
        let world = try await ServiceWorld()
        // Names of sockets are short.
        let folder = "/tmp/holdfast-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let socket = try NotifySocket("\(folder)/notify")
        let tool = try await world.serve(
            environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "200000"])
        func hears(_ text: String) async -> Bool { await waitUntil { socket.heard.contains { $0.hasPrefix(text) } } }
        #expect(await hears("READY=1\nSTATUS=serving http2 on 127.0.0.1:"))
        #expect(await hears("WATCHDOG=1"))
        tool.kill(SIGHUP)
        #expect(await waitUntil { socket.heard.count { $0.hasPrefix("READY=1") } == 2 })
        let said = socket.heard.map { $0.prefix { $0 != "=" } }.filter { $0 != "WATCHDOG" }
        #expect(said == ["READY", "RELOADING", "READY"])
        let now = NIODeadline.now().uptimeNanoseconds / 1000
        let reloading = try #require(socket.heard.first { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
        let time = try #require(UInt64(reloading.split(separator: "=").last ?? ""))
        #expect((now - 60_000_000...now).contains(time))
        _ = try await world.stop()
        #expect(await hears("STOPPING=1"))
    }

    @Test("SIGHUP with a mistake says it, and everything stays as it was")
    func mistake() async throws {
        let world = try await ServiceWorld()
        let tool = try await world.serve()
        let good = try world.folder.read("holdfast.yaml")
        try world.folder.write("holdfast.yaml", good + "\nlimits: {window: none}")
        tool.kill(SIGHUP)
        #expect(try await waitUntil { try world.log.contains("limits.window: is \"none\"") })
        #expect(try world.log.contains("everything stays as it was"))
        let status = try await Tool.run("status", "--journal", world.folder("push.journal"))
        #expect(status.status == 1 && status.output.contains("warning reload-refused"), "\(status.output)")
        #expect(status.output.contains("limits.window: is \"none\""), "\(status.output)")
        #expect(!status.output.contains("\u{FFFD}"), "\(status.output)")
        try world.folder.write(
            "holdfast.yaml",
            good.replacingOccurrences(of: "admin: {listen: \"127.0.0.1:0\"", with: "admin: {listen: \"127.0.0.1:2\"")
                .replacingOccurrences(of: "127.0.0.1:0", with: "127.0.0.1:1"))
        tool.kill(SIGHUP)
        #expect(
            try await waitUntil {
                try world.log.contains("waits for a restart, and is as it was: admin, gateway.http2.listen")
            })
        #expect(try await waitUntil { try world.log.contains("the configuration is taken up: it lasted") })
        #expect(try await world.send(20, journal: "sender").result().status == 0)
        let metrics = try await world.get("/metrics").text
        #expect(metrics.contains("holdfast_reloads_total{result=\"refused\"} 1\n"), "\(metrics)")
        #expect(metrics.contains("holdfast_reloads_total{result=\"taken\"} 1\n"))
        #expect(!metrics.contains("reload-refused"), "\(metrics)")
        #expect(try await world.stop().status == 0)
    }

    @Test("--check says what would be served, listens on nothing and makes nothing; it can be asked while it is served")
    func check() async throws {
        let world = try await ServiceWorld()
        let first = try await Tool.run("serve", "--check", "--config", world.folder("holdfast.yaml"), "--json")
        #expect(first.status == 0, "\(first.output)")
        #expect(try first.json()["usable"] as? Bool == true)
        #expect(!FileManager.default.fileExists(atPath: world.folder("push.journal")))
        try await world.serve()
        let second = try await Tool.run("serve", "--check", "--config", world.folder("holdfast.yaml"))
        #expect(second.status == 0 && second.output.contains("in use by process"), "\(second.output)")
        // A mistake is one object as well.
        let other = try world.folder.read("holdfast.yaml")
        try world.folder.write("bad.yaml", other + "\nbogus: 1\n")
        for more in [["--check"], []] {
            let arguments = ["serve", "--config", world.folder("bad.yaml"), "--json"] + more
            let bad = try await Tool.start(arguments).result(limit: .seconds(60))
            let said = try bad.json()
            #expect(bad.status == 78 && said["exitCode"] as? Int == 78, "\(bad.output)")
            #expect((said["error"] as? String)?.contains("bogus") == true && said["usable"] as? Bool == false)
            let mistakes = said["mistakes"] as? [String]
            #expect(mistakes?.count == 1 && mistakes?[0].contains("bogus: is no key") == true, "\(bad.output)")
        }
        // So is an empty one, and what is no file.
        try world.folder.write("empty.yaml", "")
        for (file, words) in [("empty.yaml", "journal.path: is missing"), ("tls", "can't be read: Is a directory")] {
            let bad = try await Tool.run("serve", "--check", "--json", "--config", world.folder(file))
            let mistakes = try bad.json()["mistakes"] as? [String]
            #expect(bad.status == 78 && mistakes?.first?.contains(words) == true, "\(bad.output)\(bad.errors)")
        }
        // What serve refuses, --check refuses.
        try world.folder.write(
            "nowhere.yaml", other.replacingOccurrences(of: "path: push.journal", with: "path: no/such/push.journal"))
        for more in [["--check"], []] {
            let arguments = ["serve", "--config", world.folder("nowhere.yaml")] + more
            let refused = try await Tool.start(arguments).result(limit: .seconds(60))
            let words = refused.output + refused.errors
            #expect(refused.status == 66 && words.contains("there is no directory"), "\(words)")
        }
        // One that is served already can't be served twice.
        let third = try await Tool.run("serve", "--config", world.folder("holdfast.yaml"))
        #expect(third.status == 73 && third.errors.contains("push.journal"), "\(third.errors)")
        _ = try await world.stop()
    }

    @Test("--check says what serve would of a place for the journal, and of an address that is needed twice")
    func checkAgrees() async throws {
        let world = try await ServiceWorld()
        let good = try world.folder.read("holdfast.yaml")
        func check(_ change: (String, String)) async throws -> Tool.Result {
            try world.folder.write("other.yaml", good.replacingOccurrences(of: change.0, with: change.1))
            return try await Tool.run("serve", "--check", "--config", world.folder("other.yaml"))
        }
        func agree(_ status: Int32, _ words: String, _ change: (String, String)) async throws {
            let checked = try await check(change)
            let served = try await Tool.run("serve", "--config", world.folder("other.yaml"))
            for result in [checked, served] {
                #expect(result.status == status && (result.output + result.errors).contains(words), "\(result)")
            }
        }
        try FileManager.default.createDirectory(atPath: world.folder("empty"), withIntermediateDirectories: false)
        let empty = try await check(("path: push.journal", "path: empty"))
        #expect(empty.status == 0 && empty.output.contains("will be made"), "\(empty)")
        try await agree(66, "is a file", ("path: push.journal", "path: holdfast.yaml"))
        try FileManager.default.createSymbolicLink(
            atPath: world.folder("empty/owner.lock"), withDestinationPath: world.folder("elsewhere"))
        try await agree(77, "owner.lock is a symbolic link", ("path: push.journal", "path: empty"))
        try await agree(
            78, "admin.listen: can't be listened on beside gateway.http2.listen", ("127.0.0.1:0", "127.0.0.1:1"))
    }

    @Test("A route to Apple without a key and a certificate is served with a warning")
    func withoutCredentials() async throws {
        let folder = try TemporaryFolder()
        func warns(_ route: String) async throws -> Bool {
            try folder.write(
                "c.yaml",
                """
                journal: {path: j}
                routes: [{name: bare, \(route)}]
                gateway: {http2: {listen: "127.0.0.1:0"}}
                """)
            let result = try await Tool.run("serve", "--check", "--config", folder("c.yaml"))
            #expect(result.status == 0, "\(result)")
            return result.output.contains("warning: route bare has neither a signing-key nor a certificate")
        }
        #expect(try await warns("endpoint: production"))
        #expect(try await warns("endpoint: \"sandbox:2197\""))
        #expect(try await !warns("endpoint: \"http://127.0.0.1:1\""))
    }

    @Test("--check names the lanes that no route serves, and does not count them as to be delivered")
    func unserved() async throws {
        let world = try await ServiceWorld()
        let queued = try await Tool.run(
            "send", "--config", world.folder("holdfast.yaml"), "--token", String(repeating: "ab", count: 32), "--alert",
            "x", "--topic", ServiceWorld.topic, "--queue-only")
        try #require(queued.status == 0, "\(queued.errors)")
        let configuration = try world.folder.read("holdfast.yaml")
        try world.folder.write(
            "other.yaml", configuration.replacingOccurrences(of: "name: example", with: "name: other"))
        let words = try await Tool.run("serve", "--check", "--config", world.folder("other.yaml"))
        #expect(words.status == 0 && words.output.contains("0 notifications to deliver"), "\(words.output)")
        #expect(words.output.contains("left alone") && words.output.contains("example/immediate"), "\(words.output)")
        let json = try await Tool.run("serve", "--check", "--json", "--config", world.folder("other.yaml")).json()
        let lanes = (json["journal"] as? [String: Any])?["unserved"] as? [[String: Any]]
        #expect(lanes?.count == 1 && lanes?.first?["unconfirmed"] as? Int == 1)
    }

    @Test("What keeps it from serving is said, with the code that it has: an address, a mistake, nothing to serve")
    func refusals() async throws {
        let world = try await ServiceWorld()
        try await world.serve()
        let port = try #require(try world.port("serving http2 on "))
        let configuration = try world.folder.read("holdfast.yaml")
        func run(_ name: String, _ text: String) async throws -> Tool.Result {
            try world.folder.write(name, text.replacingOccurrences(of: "push.journal", with: "other.journal"))
            return try await Tool.run("serve", "--config", world.folder(name))
        }
        let taken = try await run(
            "taken.yaml",
            configuration.replacingOccurrences(
                of: "http2: {listen: \"127.0.0.1:0\"", with: "http2: {listen: \"127.0.0.1:\(port)\""))
        #expect(taken.status == 69, "\(taken.errors)")
        #expect(taken.errors.contains("can't listen on 127.0.0.1:\(port): Address already in use\n"), "\(taken.errors)")
        let admin = try #require(try world.port("health and metrics on "))
        let adminTaken = try await run(
            "admin.yaml",
            configuration.replacingOccurrences(
                of: "admin: {listen: \"127.0.0.1:0\"", with: "admin: {listen: \"127.0.0.1:\(admin)\""))
        #expect(adminTaken.status == 69, "\(adminTaken.errors)")
        #expect(
            adminTaken.errors.contains("can't listen on 127.0.0.1:\(admin): Address already in use\n"),
            "\(adminTaken.errors)")
        let nothing = try await run("nothing.yaml", "journal: {path: push.journal}")
        #expect(nothing.status == 78, "\(nothing.errors)")
        #expect(nothing.errors.contains("routes: is missing") && nothing.errors.contains("gateway: listens nowhere"))
        _ = try await world.stop()
    }
}
