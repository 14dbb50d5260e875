import Foundation
import Holdfast
import HoldfastControl
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
    }

    /// The service is back, the route waits for minutes, and does not when it is told to try.
    private func force(_ world: ServiceWorld) async throws {
        let connect = ["routes", "connect", "example", "--config", world.folder("holdfast.yaml")]
        let inVain = try await Self.tool(connect)
        #expect(inVain.status == 75 && inVain.output.contains("example: away: "), "\(inVain)")
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
        let full = try await status(world)
        #expect(full.status == 1 && full.output.contains("fault disk-refusing"), "\(full)")
        // Requests are refused meanwhile, and not one of them has a line.
        #expect(try await waitUntilAsync { try await status(world).output.contains(" affected)") })
        let journal = try await Tool.run("journal", "status", "--config", world.folder("holdfast.yaml"))
        #expect(journal.output.contains("disk-refusing since "), "\(journal)")
        try FileManager.default.removeItem(atPath: mounted + "/filler")
        #expect(try await sender.result().status == 0)
        #expect(try await waitUntil { try lines(world).contains { $0["event"] as? String == "disk-refusing-over" } })
        #expect(try lines(world).count { $0["condition"] as? String == "disk-refusing" } == 2)
        #expect(try await status(world).status == 0)
        #expect(try await world.stop().status == 0)
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
        #expect(try await world.stop().status == 0)
    }
}
