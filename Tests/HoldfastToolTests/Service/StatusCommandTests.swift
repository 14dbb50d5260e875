import Foundation
import Holdfast
import HoldfastControl
import HoldfastJournal
import Scratch
import Testing

@testable import HoldfastTool

@Suite("holdfast status", .serialized)
struct StatusCommandTests {
    private func status(_ world: ServiceWorld, _ flags: String...) async throws -> Tool.Result {
        try await Self.tool(["status", "--config", world.folder("holdfast.yaml")] + flags)
    }

    private static func tool(_ arguments: [String]) async throws -> Tool.Result {
        try await Tool.start(arguments).result()
    }

    @Test("Healthy, then away with what to do, then back at once on an operator's word, and at rest with another code")
    func course() async throws {
        let world = try await ServiceWorld()
        try world.writeConfiguration(
            more: "limits: {reconnect: {minimum: 10m, maximum: 10m}}\nlog: {format: json}")
        let none = try await status(world)
        #expect(none.status == 3 && none.output.hasPrefix("nothing runs: there is no journal at "), "\(none)")
        try await world.serve()
        let healthy = try await status(world)
        #expect(healthy.status == 0 && healthy.output.hasPrefix("healthy: "), "\(healthy)")
        #expect(healthy.output.contains("nothing waits"))
        #expect(try await world.mock.stop().status == 0)
        // Its outcome is not waited for.
        let sender = try world.send(20, journal: "sender")
        #expect(try await waitUntil { try lines(world).contains { $0["event"] as? String == "service-away" } })
        let away = try await status(world)
        #expect(away.status == 1 && away.output.contains("service-away"), "\(away)")
        #expect(away.output.contains("holdfast routes connect example"))
        #expect(away.output.split(separator: "\n").count <= 10)
        let json = try await status(world, "--json")
        #expect(json.output.contains(#""kind":"service-away""#) && json.output.contains(#""healthy":false"#), "\(json)")
        try await force(world)
        #expect(try await sender.result().status == 0)
        #expect(try await waitUntilAsync { try await status(world).status == 0 })
        try told(world)
        #expect(try await world.stop().status == 0)
        let rest = try await status(world)
        #expect(rest.status == 3 && rest.output.contains("is at rest"), "\(rest)")
        #expect(rest.output.contains("next: start the service: systemctl start holdfast"), "\(rest)")
    }

    @Test("Of a service that takes connections and answers nothing, a try says so") func silent() async throws {
        let script = try TemporaryFolder()
        try script.write("silence.yaml", "steps:\n  - answer: silence")
        let world = try await ServiceWorld(mockFlags: ["--script", script("silence.yaml")])
        try world.writeConfiguration(route: "    send-deadline: 6s")
        try await world.serve()
        let sender = try world.send(3, journal: "sender")
        #expect(try await waitUntilAsync { try await status(world).output.contains("service-away") })
        let config = ["--config", world.folder("holdfast.yaml")]
        for command in [["routes", "connect", "example"], ["lanes", "resume", "--all", "--now"]] {
            let tried = try await Self.tool(command + config)
            #expect(tried.status == 75 && tried.output.contains("nothing was answered"), "\(command): \(tried)")
        }
        _ = try await sender.result()
        #expect(try await world.stop().status == 0)
    }

    /// The service is back, the route waits for minutes, and does not when it is told to try.
    private func force(_ world: ServiceWorld) async throws {
        let connect = ["routes", "connect", "example", "--config", world.folder("holdfast.yaml")]
        let inVain = try await Self.tool(connect)
        #expect(inVain.status == 75 && inVain.output.contains("example: away: "), "\(inVain)")
        let resume = ["lanes", "resume", "--all", "--config", world.folder("holdfast.yaml")]
        let resumed = try await Self.tool(resume + ["--now"])
        #expect(resumed.status == 75 && resumed.output.contains("example: away: "), "\(resumed)")
        #expect(try await Self.tool(resume).status == 0)
        let port = world.mock.port
        let mock = try Tool.start([
            "mock", "http2", "--listen", "127.0.0.1:\(port)", "--certificate-directory", world.folder("certs"),
            "--ledger",
            world.folder("ledger2"),
        ])
        #expect(try await waitUntil { try mock.output.hasPrefix("listening") })
        #expect(try await status(world).status == 1)
        let connected = try await Self.tool(connect)
        #expect(connected.status == 0 && connected.output.contains("example: connected"), "\(connected)")
        let again = try await Self.tool(resume + ["--now", "--json"])
        #expect(again.status == 0 && again.output.contains(#""connection":"connected""#), "\(again)")
        #expect(
            try await Tool.run("routes", "connect", "other", "--config", world.folder("holdfast.yaml")).status == 66)
    }

    private func lines(_ world: ServiceWorld) throws -> [[String: Any]] {
        try world.log.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    private func told(_ world: ServiceWorld) throws {
        let told = try lines(world).filter { $0["condition"] as? String == "service-away" }
        #expect(told.map { $0["event"] as? String } == ["service-away", "service-away-over"], "\(told)")
        #expect(told.first?["level"] as? String == "warning")
        #expect(told.last?["affected"] as? Int == 20 && told.last?["lasted-s"] is Double, "\(told)")
        #expect(told.allSatisfy { $0["time"] is String && $0["route"] as? String == "example" })
    }

    @Test(
        "Of however many things that are wrong it prints ten lines at most, the worst first, and how many are left out")
    func tenLines() {
        let since = WallTime(seconds: 1_800_000_000)
        func condition(_ kind: HealthCondition.Kind, _ severity: HealthCondition.Severity, _ subject: String)
            -> HealthCondition
        {
            HealthCondition(
                kind, severity, "lane", subject, since: since, affected: 1, what: "it is bad", next: "mend it")
        }
        for count in 0..<40 {
            var report = HealthReport(
                .running, journal: "/j", owner: "process 1",
                conditions: (0..<count).map {
                    condition(.laneStopped, $0.isMultiple(of: 2) ? .warning : .fault, "l\($0)")
                }
                    + ["p", "q"].map { condition(.lanePaused, .notice, $0) })
            report.unconfirmed = 3
            let lines = report.text(now: since.advanced(by: .seconds(60))).split(separator: "\n")
            #expect(lines.count <= HealthReport.greatestLineCount, "\(lines)")
            #expect(lines.last == "paused by operators: lane p (for 60 s, 1 affected), lane q (for 60 s, 1 affected)")
            let shown = lines.count { $0.hasPrefix("fault ") || $0.hasPrefix("warning ") }
            let more = lines.first { $0.contains(" more: ") }
            #expect((more == nil) == (shown == count), "\(lines)")
            if let more { #expect(more.contains("and \(count - shown) more"), "\(more)") }
            if count > 1 { #expect(lines[2].hasPrefix("fault lane-stopped (for 60 s, 1 affected): it is bad")) }
            #expect(report.status == (count == 0 ? .ok : .notAllConfirmed))
        }
    }

    @Test("An operator's word to try at once tells what the service said to the probe, and not of the connection alone")
    func refusedProbe() async throws {
        let world = try await ServiceWorld(mockFlags: ["--topic", "com.example.else"])
        try world.writeConfiguration(more: "limits: {probes: {minimum: 10m, maximum: 10m}}")
        try await world.serve()
        let sender = try world.send(5, journal: "sender")
        #expect(try await waitUntilAsync { try await status(world).output.contains("topic-set-aside") })
        let resume = ["lanes", "resume", "--all", "--now", "--config", world.folder("holdfast.yaml")]
        let resumed = try await Self.tool(resume)
        #expect(resumed.status == 78 && resumed.output.contains("example: connected"), "\(resumed)")
        #expect(resumed.output.contains("topic \(ServiceWorld.topic) is still refused: "), "\(resumed)")
        let json = try await Self.tool(resume + ["--json"])
        #expect(json.status == 78 && json.output.contains(#""about":"topic""#), "\(json)")
        let drop = ["journal", "drop", "--topic", ServiceWorld.topic, "--lane", "example", "--yes"]
        let dropped = try await Self.tool(drop + ["--config", world.folder("holdfast.yaml")])
        #expect(dropped.status == 0, "\(dropped)")
        // With nothing left to try it with, nobody waits for an answer.
        let again = try await Self.tool(resume)
        #expect(again.status == 0 && !again.output.contains("refused"), "\(again)")
        sender.kill(SIGTERM)
        _ = try await sender.result()
        #expect(try await world.stop().status == 0)
    }

    @Test("With another journal in the configuration than in the service, it says that this waits for a restart")
    func changedJournal() async throws {
        let world = try await ServiceWorld()
        try await world.serve()
        let port = try #require(try world.port("health and metrics on "))
        let before = try world.folder.read("holdfast.yaml")
        let after = before.replacing("path: push.journal", with: "path: other.journal")
            .replacing("admin: {listen: \"127.0.0.1:0\"", with: "admin: {listen: \"127.0.0.1:\(port)\"")
        try world.folder.write("holdfast.yaml", after)
        let changed = try await status(world)
        #expect(changed.status == 3 && changed.output.hasPrefix("nothing runs with this journal: "), "\(changed)")
        #expect(changed.output.contains("/push.journal: a changed journal.path needs a restart"), "\(changed)")
        let json = try await status(world, "--json")
        #expect(json.output.replacing("\\/", with: "/").contains("/push.journal\""), "\(json)")
        // A journal that is named is looked at, and no other.
        let named = try await status(world, "--journal", world.folder("other.journal"))
        #expect(named.output.hasPrefix("nothing runs: there is no journal"), "\(named)")
        #expect(try await world.stop().status == 0)
        #expect(try await status(world).output.hasPrefix("nothing runs: there is no journal"))
    }

    @Test("Of a topic that is set aside it also says how what waits for it is given up")
    func topicSetAside() throws {
        func text(_ kind: HealthCondition.Kind) -> String {
            let condition = HealthCondition(
                kind, .fault, "topic", "com.example.app", route: "my app", since: WallTime(seconds: 1_800_000_000),
                what: "it is set aside", next: "see to it", command: "holdfast lanes resume 'my app' --now")
            return HealthReport(.running, journal: "/j", owner: "process 1", conditions: [condition])
                .text(now: WallTime(seconds: 1_800_000_060))
        }
        let drop = "holdfast journal drop --topic com.example.app --lane 'my app'"
        #expect(
            text(.topicSetAside).contains("--now; a wrong topic's are taken back by: \(drop)"),
            "\(text(.topicSetAside))")
        #expect(
            LanePattern("my app")?.matches(LaneKey(route: "my app", urgency: .immediate, guarantee: .atLeastOnce))
                == true)
        // There the environment may be wrong, and not what waits.
        #expect(!text(.massBadTokens).contains("drop"))
    }

    @Test("A journal sealed by half has one next step, and not to start a service; commands can be pasted back")
    func nextSteps() {
        let since = WallTime(seconds: 1_800_000_000)
        var report = HealthReport(
            .atRest, journal: "/j",
            conditions: [
                HealthCondition(
                    .tagPaused, .notice, "tag", "a\u{1B}", since: since, what: "it is so", next: "resume it",
                    command: TagPause.command(resuming: Array("a\u{1B}".utf8)))
            ])
        report.unconfirmed = 3
        #expect(report.text(now: since).contains("next: start the service"))
        #expect(report.text(now: since).contains(#": holdfast tags resume $'a\033'"#), "\(report.text(now: since))")
        report.halfSealed = "one is. Next: compact"
        #expect(!report.text(now: since).contains("start the service"))
    }

    @Test("The next try is told while it is to come, and a time that has passed is not") func nextTry() {
        let now = WallTime(seconds: 1_800_000_000)
        func text(_ next: WallTime?) -> String {
            let condition = HealthCondition(
                .serviceAway, .warning, "route", "r", since: now.advanced(by: .seconds(-60)), affected: 3,
                nextTryAt: next, what: "it is away", next: "wait")
            return HealthReport(.running, journal: "/j", owner: "process 1", conditions: [condition]).text(now: now)
        }
        #expect(text(now.advanced(by: .seconds(12))).contains("(for 60 s, 3 affected, next try in 12 s): it is away"))
        for past in [nil, now, now.advanced(by: .seconds(-5))] {
            #expect(text(past).contains("(for 60 s, 3 affected): it is away"))
        }
    }

    @Test("What waits in its turn is told from what is deferred, and the oldest is the oldest of the former")
    func queue() {
        let now = WallTime(seconds: 1_800_000_000)
        func line(_ unconfirmed: Int, _ deferred: Int?) -> String? {
            var report = HealthReport(.running, journal: "/j", owner: "process 1")
            (report.unconfirmed, report.deferred) = (unconfirmed, deferred)
            if deferred ?? 0 < unconfirmed { report.oldestAcceptedAt = ExactTime(now.advanced(by: .seconds(-240))) }
            return report.text(now: now).split(separator: "\n").dropFirst().first.map(String.init)
        }
        #expect(line(0, 0) == "nothing waits")
        #expect(line(1, nil) == "1 notification waits, the oldest accepted 4 min ago")
        #expect(line(5000, 0) == "5,000 notifications wait, the oldest accepted 4 min ago")
        #expect(
            line(5000, 200)
                == "5,000 notifications wait: 4,800 in their turn, the oldest accepted 4 min ago; 200 deferred")
        #expect(line(2, 2) == "2 notifications wait, deferred: `holdfast journal list` says why")
    }

    @Test("What is to be known and holds nothing up has a line of its own, and all is healthy") func notices() {
        let since = WallTime(seconds: 1_800_000_000)
        func condition(_ kind: HealthCondition.Kind, _ subject: String) -> HealthCondition {
            HealthCondition(
                kind, .notice, "route", subject, since: since, what: "it is so", next: "look", command: "see")
        }
        func text(_ conditions: [HealthCondition]) -> [String] {
            let report = HealthReport(.running, journal: "/j", owner: "process 1", conditions: conditions)
            #expect(report.status == .ok)
            return report.text(now: since.advanced(by: .seconds(60))).split(separator: "\n").map(String.init)
        }
        #expect(
            text([condition(.serviceAway, "r"), condition(.lanePaused, "l")]) == [
                "healthy: /j is in use by process 1", "notice lane-paused (for 60 s): it is so: see",
                "notice service-away (for 60 s): it is so: see",
            ])
        #expect(
            text([condition(.serviceAway, "r"), condition(.serviceAway, "s")]).last
                == "notice service-away (for 60 s): it is so: see (and 1 more: --json)")
    }

    @Test("A full disk is told once, however many are refused, and when it takes notifications again")
    func fullDisk() async throws {
        let world = try await ServiceWorld()
        let mounted = world.folder("small")
        try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: false)
        guard try Self.run("mount", "-t", "tmpfs", "-o", "size=140m", "tmpfs", mounted) else {
            return print("skipped: cannot mount tmpfs here")
        }
        defer { _ = try? Self.run("umount", "-l", mounted) }
        let configuration = try world.folder.read("holdfast.yaml")
        try world.folder.write(
            "holdfast.yaml",
            configuration.replacing("push.journal", with: "small/push.journal") + "\nlog: {format: json}")
        try await world.serve()
        #expect(try await world.stop().status == 0)
        // What the journal has allocated ahead of use is gone, as on a disk that filled up before.
        #expect(try Self.run("truncate", "-s", "1M", mounted + "/push.journal/entries/data.mdb"))
        #expect(try Self.run("dd", "if=/dev/zero", "of=\(mounted)/filler", "bs=4k") == false)
        try await world.serve()
        #expect(try await waitUntil { try lines(world).contains { $0["event"] as? String == "disk-refusing" } })
        let sender = try world.send(300, journal: "sender")
        let handed = try handOver(50, world)
        let full = try await status(world)
        #expect(full.status == 1 && full.output.contains("fault disk-refusing"), "\(full)")
        // Requests are refused meanwhile, and not one of them has a line.
        #expect(try await waitUntilAsync { try await status(world).output.contains(" refusals): ") })
        let journal = try await Tool.run("journal", "status", "--config", world.folder("holdfast.yaml"))
        #expect(journal.output.contains("disk-refusing since "), "\(journal)")
        // A file waits for room, and asks more and more seldom.
        #expect(try await waitUntil { try handed.errors.contains("waiting") || !handed.isRunning })
        #expect(handed.isRunning)
        try FileManager.default.removeItem(atPath: mounted + "/filler")
        #expect(try await sender.result().status == 0)
        let taken = try await handed.result()
        #expect(try taken.status == 0 && taken.json()["accepted"] as? Int == 50, "\(taken)")
        #expect(try await waitUntil { try lines(world).contains { $0["event"] as? String == "disk-refusing-over" } })
        #expect(try lines(world).count { $0["condition"] as? String == "disk-refusing" } == 2)
        #expect(try await status(world).status == 0)
        #expect(try await world.stop().status == 0)
    }

    /// Gives so many notifications in a file to the service itself.
    private func handOver(_ count: Int, _ world: ServiceWorld) throws -> RunningTool {
        let lines = (0..<count).map { number in
            let token = String(repeating: "0", count: 56) + String(UInt32(number) + 0x2000_0000, radix: 16)
            return
                #"{"token":"\#(token)","apns-topic":"\#(ServiceWorld.topic)","payload":{"aps":{"alert":"\#(number)"}}}"#
        }
        try world.folder.write("handed.ndjson", lines.joined(separator: "\n"))
        return try Tool.start([
            "send", world.folder("handed.ndjson"), "--config", world.folder("holdfast.yaml"), "--json",
        ])
    }

    private static func run(_ command: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        (process.standardError, process.standardOutput) = (nil, nil)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test("A gateway's certificate with 36 hours left is told, with its end and what to do")
    func certificate() async throws {
        let world = try await ServiceWorld()
        let made = try Self.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            world.folder("tls/server.key"), "-out", world.folder("tls/server.pem"), "-days", "1", "-subj",
            "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost")
        try #require(made)
        try await world.serve()
        #expect(try await waitUntil { try world.log.contains("expires in") })
        let told = try await status(world)
        #expect(told.status == 1, "\(told)")
        #expect(told.output.contains("certificate-expiring") && told.output.contains("gateway.http2"), "\(told)")
        #expect(told.output.contains("/server.pem") && told.output.contains("systemctl reload holdfast"))
        #expect(try await world.get("/metrics").text.contains(#"holdfast_condition{kind="certificate-expiring""#))
        #expect(try await world.get("/health/ready").text.contains("warning: the certificate that gateway.http2 shows"))
        #expect(try await world.stop().status == 0)
    }

    @Test("A notification whose tag is followed has a line when it ends, and others have none")
    func follows() async throws {
        let world = try await ServiceWorld()
        try world.writeConfiguration(more: "log: {format: json, follow: {tags: [codes]}}")
        try await world.serve()
        let token = String(repeating: "ab", count: 32)
        let pushes = ["codes", "sale"].map { tag in
            #"{"token":"\#(token)","apns-topic":"\#(ServiceWorld.topic)","tag":"\#(tag)","payload":{"aps":{"alert":"x"}}}"#
        }
        try world.folder.write("pushes.ndjson", pushes.joined(separator: "\n"))
        let sent = try await Tool.run(
            "send", world.folder("pushes.ndjson"), "--config", world.folder("holdfast.yaml"))
        #expect(sent.status == 0, "\(sent)")
        #expect(try await waitUntil { try lines(world).contains { $0["event"] as? String == "notification" } })
        let told = try lines(world).filter { $0["event"] as? String == "notification" }
        #expect(told.map { $0["tag"] as? String } == ["codes"])
        #expect(told.first?["outcome"] as? String == "confirmed" && told.first?["attempts"] as? Int == 1)
        #expect(!(try world.log.contains(String(repeating: "ab", count: 16))))
        let ended = try await world.stop()
        #expect(ended.status == 0, "\(ended)")
    }
}
