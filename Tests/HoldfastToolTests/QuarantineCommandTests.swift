import Foundation
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastTesting
import Scratch
import Testing

@testable import Holdfast
@testable import HoldfastService
@testable import HoldfastTool

/// Records that are really damaged, in the file of a journal at rest, and what the tool makes of them.
@Suite("Records that cannot be read", .serialized)
struct QuarantineCommandTests {
    private static let marker = "this is the one that breaks"

    /// Flips a bit of every copy of some bytes in a file of a journal at rest, as wear of the disk would.
    private static func damage(_ text: String, in file: String) throws {
        try damage([Array(text.utf8)], in: file)
    }

    private static func damage(_ patterns: [[UInt8]], isKey: Bool = false, in file: String) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: file))
        var count = 0
        for pattern in patterns {
            var start = data.startIndex
            while let found = data.range(of: Data(pattern), in: start..<data.endIndex) {
                start = found.upperBound
                // Of a key only where a record follows it: its checksum, and then its magic.
                if isKey, data.dropFirst(found.upperBound + 8).prefix(4) != Data("HFnr".utf8) { continue }
                data[found.lowerBound] ^= 1
                count += 1
            }
        }
        try #require(count > 0)
        // In place: the journal knows its file again.
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
        try handle.write(contentsOf: data)
        try handle.close()
    }

    /// Journals five, of which nobody delivers any, and damages the third: its record, or the key that leads to it.
    @discardableResult
    fileprivate static func fill(
        _ journal: String, route: String = "default", topic: String = "a", damagesKey: Bool = false
    ) async throws -> UID {
        var damaged = UID.none
        let opened = try LMDBJournal(directory: journal)
        do {
            defer { opened.close() }
            let engine = try PushEngine(
                journal: opened, routes: [Route(name: route, connector: InMemoryConnector(), topics: [topic])])
            let notifications = try (1...5).map { number in
                let text = number == 3 ? marker : "\(number)"
                return PushNotification(
                    token: try DeviceToken(OperatorWorld.token(number)), topic: topic,
                    payload: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8))
            }
            let receipts = await engine.producer.submit(notifications)
            damaged = try receipts[2].get()
        }
        if damagesKey {
            // Whichever lane it is in.
            let uid = (0..<8).map { UInt8(truncatingIfNeeded: damaged.rawValue >> UInt64(56 - 8 * $0)) }
            try damage((1...8).map { [0, 0, 0, $0] + uid }, isKey: true, in: journal + "/entries/data.mdb")
        } else {
            try damage(marker, in: journal + "/entries/data.mdb")
        }
        return damaged
    }

    @Test(
        "An unreadable entry is listed, exported whole, kept by a retry that cannot read it, and dropped; live and at rest",
        arguments: [false, true])
    func commands(live: Bool) async throws {
        let world = try OperatorWorld()
        let uid = try await Self.fill(world.journal)
        try await world.withEngine { engine in
            #expect(await waitUntil { engine.status().quarantined == 1 && engine.status().confirmed == 4 })
        }
        #expect(world.connector.sent.count == 4)
        try await world.using(live: live) {
            let listed = try await world.tool("journal", "quarantine", "list", "--json")
            #expect(listed.status == 0, "\(listed.errors)")
            let row = try #require(try listed.lines().first)
            #expect(try listed.lines().count == 1 && row["uid"] as? Int == Int(uid.rawValue))
            #expect(
                row["fault"] as? String == "damaged: its checksum is wrong" && row["possiblySent"] as? Bool == false)
            #expect(row["record"] == nil)

            let exported = try await world.tool("journal", "quarantine", "export")
            let text = try #require(try exported.lines().first?["record"] as? String)
            let record = try #require(Data(base64Encoded: text))
            #expect(record.range(of: Data(Self.marker.dropFirst().utf8)) != nil)
            #expect(record.count == row["recordBytes"] as? Int)

            let status = try await world.tool("journal", "status")
            #expect(status.output.contains("cannot be read; see `holdfast journal quarantine list`"))
            let shown = try await world.tool("journal", "show", "\(uid)", "--json")
            #expect(try shown.lines().first?["state"] as? String == "quarantined")

            let retried = try await world.tool("journal", "quarantine", "retry", "--json")
            #expect(retried.status == 65, "\(retried.output)\(retried.errors)")
            #expect(try retried.count("matched") == 1 && retried.count("restored") == 0)
            let other = try await world.tool("journal", "quarantine", "drop", "999", "--yes")
            #expect(other.status == 66, "\(other.output)\(other.errors)")

            let dropped = try await world.tool("journal", "quarantine", "drop", "\(uid)", "--yes", "--json")
            #expect(dropped.status == 0, "\(dropped.errors)")
            #expect(try dropped.count("withdrawn") == 1 && dropped.count("unknown") == 0)
            #expect(try await world.tool("journal", "quarantine", "list", "--json").lines().isEmpty)
        }
        let report = try await world.tool("journal", "status", "--json")
        #expect(try report.count("unconfirmed") == 0 && report.count("quarantined") == 0)
        let totals = try #require(try report.lines().first?["totals"] as? [String: Any])
        #expect(totals["accepted"] as? Int == 5 && totals["withdrawn"] as? Int == 1)
    }

    @Test("An unreadable entry is dropped by its UID where it lies, before anybody has met it")
    func dropWhereItLies() async throws {
        let world = try OperatorWorld()
        let uid = try await Self.fill(world.journal)
        let dropped = try await world.tool("journal", "drop", "\(uid)", "--yes", "--json")
        #expect(dropped.status == 0, "\(dropped.output)\(dropped.errors)")
        #expect(try await world.count("unconfirmed") == 4)
        try await world.withEngine { engine in #expect(await waitUntil { engine.status().confirmed == 4 }) }
        #expect(try await world.count("quarantined") == 0)
    }

    @Test("A service delivers what is around it, warns of it without being less ready, and lets operators drop it")
    func service() async throws {
        let world = try await ServiceWorld()
        let journal = world.folder("push.journal")
        let uid = try await Self.fill(journal, route: "example", topic: ServiceWorld.topic)
        try await world.serve()
        #expect(try await waitUntil { try world.mock.taken() == 4 })
        let warning =
            "warning: 1 entry whose record can't be read. Next: look at them, and take back what can't be mended "
            + "(`holdfast journal quarantine list`)\n"
        let warns = try await waitUntilAsync {
            let ready = try await world.get("/health/ready")
            return ready.status == 200 && ready.text == "ready\n" + warning
        }
        #expect(warns)
        #expect(try await world.get("/metrics").text.contains("\nholdfast_ready 1\n"))
        let retried = try await Tool.run("journal", "quarantine", "retry", "--journal", journal)
        #expect(retried.status == 65, "\(retried.output)\(retried.errors)")
        let dropped = try await Tool.run("journal", "quarantine", "drop", "\(uid)", "--yes", "--journal", journal)
        #expect(dropped.status == 0, "\(dropped.errors)")
        #expect(try await waitUntilAsync { try await world.get("/health/ready").text == "ready\n" })
        let end = try await world.stop()
        #expect(end.status == 0, "\(end.errors)")
    }

    @Test("An unreadable record of the blacklist hides no other, is named, and is taken off by its token")
    func blacklist() async throws {
        let world = try OperatorWorld()
        try LMDBJournal(directory: world.journal).close()
        for number in 1...3 {
            let added = try await world.tool(
                "blacklist", "add", OperatorWorld.token(number), "--reason", number == 2 ? Self.marker : "Unregistered")
            #expect(added.status == 0, "\(added.errors)")
        }
        try Self.damage(Self.marker, in: world.journal + "/blacklist/data.mdb")
        let listed = try await world.tool("blacklist", "list", "--json", "--reveal")
        #expect(listed.status == 0)
        #expect(try listed.lines().count == 2)
        #expect(listed.errors.contains("the first: \(OperatorWorld.token(2)), damaged"), "\(listed.errors)")
        let exported = try await world.tool("blacklist", "export")
        #expect(try exported.status == 65 && exported.lines().count == 2)
        // What is for its token waits, and all else goes.
        try await world.withEngine { engine in
            let notifications = try [2, 4].map { number in
                PushNotification(token: try DeviceToken(OperatorWorld.token(number)), topic: "a", payload: "{}")
            }
            let receipts = await engine.producer.submit(notifications)
            #expect(receipts.allSatisfy { $0.uid != nil })
            #expect(await waitUntil { engine.status().confirmed == 1 })
        }
        #expect(world.connector.sent.count == 1)
        let waiting = try await world.tool("journal", "list", "--state", "deferred", "--json").lines()
        #expect(waiting.count == 1 && waiting.first?["reason"] as? String == "BlacklistUnreadable")
        let removed = try await world.tool("blacklist", "remove", OperatorWorld.token(2), "--yes")
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(try await world.tool("blacklist", "export").status == 0)
    }
}

/// What is kept aside, and what a running process has set aside.
@Suite("What is aside", .serialized)
struct AsideCommandTests {
    @Test("What silence has confirmed is counted, shown by its UID, listed when asked for, and never exported")
    func keptAside() async throws {
        let world = try OperatorWorld()
        let since = WallTime(seconds: 1_795_300_000)
        let opened = try LMDBJournal(directory: world.journal)
        do {
            defer { opened.close() }
            let engine = try PushEngine(journal: opened, routes: [Route(connector: InMemoryConnector())])
            let notifications = try (1...3).map { number in
                PushNotification(token: try DeviceToken(OperatorWorld.token(number)), topic: "a", payload: "{}")
            }
            _ = await engine.producer.submit(notifications)
            let lane = try #require(try opened.status().lanes.first { $0.unconfirmed == 3 })
            let batch = SettlementBatch(
                settledAt: since, quieted: [EntryKey(lane: lane.id, uid: UID(2))], greatestAside: 10)
            let report = try await withCheckedThrowingContinuation { continuation in
                opened.settle(batch) { continuation.resume(with: $0) }
            }
            #expect(report.settled == 1)
        }
        let status = try await world.tool("journal", "status", "--json")
        #expect(try status.count("aside") == 1 && status.count("unconfirmed") == 2)
        #expect(try await world.tool("journal", "list", "--json").lines().count == 2)
        let row = try #require(try await world.tool("journal", "list", "--state", "aside", "--json").lines().first)
        #expect(row["uid"] as? Int == 2 && row["state"] as? String == "aside")
        #expect(row["asideSince"] as? String == Timestamp.format(since))
        let shown = try await world.tool("journal", "show", "2")
        #expect(shown.status == 0 && shown.output.contains("confirmed by silence, kept aside"), "\(shown.output)")
        #expect(shown.output.contains("`limits.late-errors.period`"))
        let exported = try await world.tool("journal", "export")
        #expect(try exported.lines().count == 2)
        #expect(exported.errors.contains("1 entry that silence has confirmed"), "\(exported.errors)")
        #expect(try await world.tool("journal", "export", "--state", "aside").status == 64)
    }

    @Test(
        "A topic that the service refuses is named with why, since when and when it is tried; so is a stopped lane's probe"
    )
    func setAside() async throws {
        let world = try OperatorWorld()
        world.connector.answer { notification in
            notification.topic == "b" ? SendResult(apnsStatus: 400, reason: "TopicDisallowed") : .confirmed
        }
        try await world.withEngine { engine in
            let token = try DeviceToken(OperatorWorld.token(1))
            _ = await engine.producer.submit(
                ["a", "b"].map { PushNotification(token: token, topic: $0, payload: "{}") })
            #expect(await waitUntil { engine.status().topicsSetAside["default"]?.count == 1 })
            let status = try await world.tool("journal", "status", "--json")
            let report = try #require(try status.lines().first)
            let topic = try #require((report["topicsSetAside"] as? [[String: Any]])?.first)
            #expect(topic["topic"] as? String == "b" && topic["route"] as? String == "default")
            #expect((topic["reason"] as? String)?.contains("TopicDisallowed") == true && topic["since"] is String)
            let text = try await world.tool("journal", "status")
            #expect(text.output.contains("TOPIC SET ASIDE"), "\(text.output)")
            let lanes = try await world.tool("lanes", "list")
            #expect(lanes.output.contains("topic b is set aside since "), "\(lanes.output)")
        }
    }

    @Test("A lane that stopped by itself is listed with why, since when and when it tries one entry")
    func nextProbe() async throws {
        let world = try OperatorWorld()
        world.connector.answer { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        var configuration = EngineConfiguration()
        // So that the pause is still on when the tool asks.
        (configuration.probes.minimum, configuration.probes.maximum) = (.seconds(600), .seconds(600))
        try await world.withEngine(configuration) { engine in
            let token = try DeviceToken(OperatorWorld.token(1))
            _ = await engine.producer.submit([PushNotification(token: token, topic: "a", payload: "{}")])
            let stops = await waitUntil {
                engine.status().lanes.contains { if case .stopped = $0.state { $0.nextProbeAt != nil } else { false } }
            }
            #expect(stops)
            for command in ["journal", "lanes"] {
                let word = command == "journal" ? "status" : "list"
                let result = try await world.tool(command, word, "--json")
                let lines = try result.lines()
                let lanes = command == "journal" ? lines.first?["lanes"] as? [[String: Any]] : lines
                let lane = try #require(lanes?.first { $0["state"] as? String == "stopped" })
                #expect(lane["nextProbe"] is String && lane["since"] is String)
                #expect((lane["reason"] as? String)?.contains("InvalidProviderToken") == true)
                #expect(try await world.tool(command, word).output.contains("tries one entry at "))
            }
        }
    }

    @Test("Damage to the blacklist is in the figures of a journal whose owner tells of it, and nowhere else")
    func blacklistDamage() throws {
        var live = DeskStatus(lanes: [], routes: [])
        func report() -> JournalReport {
            JournalReport(JournalStatus(), directory: "/j", JournalReport.Details(owner: "process 1", live: live))
        }
        #expect(!report().text().contains("damage") && report().blacklistDamage == nil)
        live.blacklistDamage = 2
        #expect(report().text().contains("blacklist damage"), "\(report().text())")
        #expect(try JSONOutput.line(report()).contains(#""blacklistDamage":2"#))
    }

    @Test("Warnings name what is wrong, without what is said as an obstacle, and no more of it than a page holds")
    func warnings() {
        #expect(HealthWarnings.of([]).isEmpty)
        let since = WallTime(seconds: 1_795_300_000)
        func condition(_ kind: HealthCondition.Kind, _ severity: HealthCondition.Severity, _ subject: String)
            -> HealthCondition
        {
            HealthCondition(kind, severity, "lane", subject, since: since, what: "\(subject) is bad", next: "mend it")
        }
        let conditions =
            [
                condition(.laneStopped, .fault, "a"), condition(.lanePaused, .notice, "b"),
                condition(.journalFull, .fault, "c"),
            ]
            + (1...22).map { condition(.topicSetAside, .fault, "t\($0)") }
        let warnings = HealthWarnings.of(conditions)
        #expect(warnings.count == 22)
        #expect(warnings.first == "a is bad. Next: mend it")
        #expect(warnings.last == "2 more conditions of the kind topic-set-aside")
    }

    @Test("A parked route is a warning, and a line of the status: why, until when, and what ends it")
    func parked() throws {
        let since = WallTime(seconds: 1_795_300_000)
        let parking = EngineStatus.Parking(
            reason: .tooManyProviderTokenUpdates, since: since, until: since.advanced(by: .seconds(1200)))
        let findings = RouteFindings(route: "r", endpoint: "e", parking: parking)
        let words = try #require(HealthWarnings.of(findings.conditions(depth: { _ in 0 }, now: since)).first)
        var live = DeskStatus(lanes: [], routes: [])
        live.routes = [
            DeskStatus.Route(
                name: "r", endpoint: "e", connection: "idle", isAway: false, inFlight: 0, suspects: 0,
                holding: parking.description)
        ]
        let report = JournalReport(JournalStatus(), directory: "/j", JournalReport.Details(live: live))
        for text in [words, report.text()] {
            for part in ["TooManyProviderTokenUpdates", Timestamp.format(parking.until), "resumed", "reloaded"] {
                #expect(text.contains(part), "\(text)")
            }
        }
        #expect(words.hasPrefix("route r is parked since"))
        #expect(report.routesHolding?.map(\.route) == ["r"])
    }

    @Test("Entries that damage hides are more than a warning: the service is not ready")
    func hidden() {
        var status = EngineStatus()
        let lane = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        status.lanes = [EngineStatus.Lane(key: lane, state: .running, backlog: 5)]
        #expect(HealthWarnings.damage(status) == nil)
        status.lanes[0].unreachable = 3
        let words = HealthWarnings.damage(status)
        #expect(words?.contains("3 entries cannot be reached") == true && words?.contains("--salvage") == true)
    }

    @Test("A recovery of a journal whose damage hides entries delivers the others, and ends by saying so")
    func recoversWhatIsThere() async throws {
        let folder = try TemporaryFolder()
        let mock = try await MockProcess(in: folder)
        let journal = folder("j")
        try await QuarantineCommandTests.fill(journal, topic: "com.example.app", damagesKey: true)
        let recovered = try await Tool.run(
            "recover", "--journal", journal, "--endpoint", mock.endpoint, "--trust", mock.trust, "--give-up-after",
            "30s", "--json")
        #expect(recovered.status == 72, "\(recovered.output)\(recovered.errors)")
        #expect((recovered.output + recovered.errors).contains("cannot be reached"), "\(recovered.errors)")
        #expect(try recovered.count("confirmed") + recovered.count("left") == 5)
        #expect(try recovered.count("left") > 0)
    }

    @Test("A recovery that leaves unreadable entries behind says how many, and does not end as if all were well")
    func recovered() async throws {
        let folder = try TemporaryFolder()
        let mock = try await MockProcess(in: folder)
        let journal = folder("j")
        _ = try await QuarantineCommandTests.fill(journal, topic: "com.example.app")
        for _ in 0..<2 {
            let recovered = try await Tool.run(
                "recover", "--journal", journal, "--endpoint", mock.endpoint, "--trust", mock.trust, "--json")
            #expect(recovered.status == 72, "\(recovered.errors)")
            #expect(try recovered.count("quarantined") == 1)
        }
    }
}
