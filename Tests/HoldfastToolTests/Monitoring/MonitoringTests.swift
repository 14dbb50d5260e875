import Foundation
import Holdfast
import Scratch
import Testing

@testable import HoldfastTool

@Suite("A service in the eyes of Prometheus", .serialized, .enabled(if: PrometheusProcess.isWanted))
struct MonitoringTests {
    private static let token = String(repeating: "0", count: 56) + "10000000"

    private func promtool(_ arguments: String..., input: String? = nil) async throws -> Tool.Result {
        let program = try #require(PrometheusProcess.promtool, "promtool is not installed: Scripts/bootstrap --tests")
        return try await RunningTool(arguments, input: input, program: program).result()
    }

    @Test("promtool finds nothing wrong with the rules, and their tests pass")
    func rules() async throws {
        let folder = PrometheusProcess.monitoring.path
        for arguments in [
            ["check", "rules", "\(folder)/alerts.yaml"], ["test", "rules", "\(folder)/alerts-test.yaml"],
        ] {
            let result = try await RunningTool(
                arguments, program: try #require(PrometheusProcess.promtool, "Scripts/bootstrap --tests")
            ).result()
            #expect(result.status == 0, "\(result.output)\(result.errors)")
        }
    }

    @Test("Each alert has its texts, and leads to the runbook: most to the section of a kind of condition")
    func annotations() throws {
        let text = try String(
            contentsOf: PrometheusProcess.monitoring.appendingPathComponent("alerts.yaml"), encoding: .utf8)
        let alerts = text.components(separatedBy: "- alert: ").dropFirst()
        #expect(alerts.count > 30)
        let page = "https://github.com/holdfast-push/holdfast/blob/main/Docs/Operate/Runbook.md#"
        let anchors = Set(
            HealthCondition.Kind.all.map(\.rawValue) + ["not-running", "not-ready", "slow-delivery", "late-errors"])
        for alert in alerts {
            for part in ["severity: ", "summary: ", "description: "] { #expect(alert.contains(part), "\(alert)") }
            let anchor = alert.firstRange(of: page).map { alert[$0.upperBound...].prefix { !$0.isNewline } }
            #expect(anchor.map { anchors.contains(String($0)) } == true, "\(alert)")
        }
        // What somebody must act on has an alert.
        let quiet: Set = ["lane-stopped", "certificate-expiring"]
        for kind in HealthCondition.Kind.all where !quiet.contains(kind.rawValue) {
            #expect(text.contains("kind=\"\(kind)\""), "\(kind)")
        }
        // The sections are there.
        let headings = Set(try sections(of: "Docs/Operate/Runbook.md").keys)
        #expect(anchors.subtracting(headings) == [])
    }

    @Test(
        "Each kind of condition has a section of the runbook that says what it means and what to do, and a line in its reference"
    )
    func runbook() throws {
        let sections = try sections(of: "Docs/Operate/Runbook.md")
        let reference = try String(
            contentsOf: Self.root.appendingPathComponent("Docs/Reference/Conditions.md"), encoding: .utf8)
        let told = Set(
            reference.matches(of: /(?m)^\| `([a-z-]+)` \| [a-z]+ \| (?:fault|warning|notice)/).map { String($0.1) })
        #expect(told == Set(HealthCondition.Kind.all.map(\.rawValue)))
        for kind in told {
            let section = sections[kind] ?? ""
            #expect(section.contains("**Means**"), "\(kind)")
            #expect(section.contains("**Do**"), "\(kind)")
        }
    }

    private static let root = PrometheusProcess.monitoring.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The sections of a page, by the anchors of their headings.
    private func sections(of page: String) throws -> [String: String] {
        let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
        var sections: [String: String] = [:]
        let parts = text.components(separatedBy: "\n## ").flatMap { $0.components(separatedBy: "\n### ") }
        for part in parts.dropFirst() {
            let heading = part.prefix { !$0.isNewline }
            let anchor = heading.lowercased().filter { $0.isLetter || $0.isNumber || " -".contains($0) }
            sections[anchor.replacing(" ", with: "-")] = String(part)
        }
        return sections
    }

    @Test(
        "Every query of the dashboard finds data of a real service, promtool finds nothing wrong with its metrics, and alerts fire",
        .timeLimit(.minutes(2)))
    func everything() async throws {
        let world = try await world()
        try await world.serve()
        let prometheus = try await PrometheusProcess(
            reading: try #require(try world.port("health and metrics on ")))
        #expect(try await waitUntilAsync { try await prometheus.query("up").first?.value == 1 })
        try await traffic(world)
        try await queries(prometheus)
        try await metrics(world)
        try await firing(world, prometheus)
    }

    /// A route whose key is refused, one whose tokens are all bad, a certificate with three days left, and a small journal.
    private func world() async throws -> ServiceWorld {
        let folder = try TemporaryFolder()
        try folder.write(
            "script.yaml",
            """
            steps:
              - {when: {topic: com.example.bad}, answer: BadDeviceToken}
              - {when: {topic: com.example.wrong}, answer: InvalidProviderToken}
            """)
        let world = try await ServiceWorld(mockFlags: [
            "--reject", "\(Self.token)=Unregistered", "--script", folder("script.yaml"),
        ])
        let more = ["wrong", "bad"].map { name in
            """
              - name: \(name)
                topics: [com.example.\(name)]
                endpoint: \(world.mock.endpoint)
                trust: certs/ca.pem
                signing-key: {file: certs/AuthKey.p8, key-id: MOCKKEYID1, team-id: MOCKTEAMID}
            """
        }
        try world.writeConfiguration(
            journal: ", limit: 1M", route: more.joined(separator: "\n"), more: "limits: {suspects: {hold: 200ms}}")
        let made = try await RunningTool(
            [
                "-c",
                """
                cd '\(world.folder("tls"))' && openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
                    -keyout server.key -subj /CN=localhost -out server.csr 2>/dev/null &&
                echo 'subjectAltName=DNS:localhost' >server.ext &&
                openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 3 -extfile server.ext -out server.pem
                """,
            ], program: "/bin/sh"
        ).result()
        try #require(made.status == 0, "\(made.errors)")
        return world
    }

    private func traffic(_ world: ServiceWorld) async throws {
        let wrong = try world.send(5, journal: "wrong", topic: "com.example.wrong")
        let bad = try world.send(200, journal: "bad", topic: "com.example.bad")
        #expect(try await world.send(300, journal: "first").result().status == 0)
        #expect(try await waitUntil { try world.mock.taken() >= 299 })
        // The first token is known to be gone by now, so it is refused.
        _ = try await world.send(300, journal: "second").result()
        _ = try await (wrong.result(), bad.result())
    }

    /// The dashboard's queries, as Grafana would ask them.
    private func queries(_ prometheus: PrometheusProcess) async throws {
        let json = try JSONSerialization.jsonObject(
            with: Data(contentsOf: PrometheusProcess.monitoring.appendingPathComponent("dashboard.json")))
        let panels = try #require((json as? [String: Any])?["panels"] as? [[String: Any]])
        let queries = panels.flatMap { panel in
            (panel["targets"] as? [[String: Any]] ?? []).compactMap { $0["expr"] as? String }
        }.map { query in
            ["$__rate_interval": "1m", "$job": ".*", "$instance": ".*", "$route": ".*"]
                .reduce(query) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }
        #expect(queries.count > 50)
        for query in queries {
            #expect(!query.contains("$"), "\(query)")
            let hasData = try await waitUntilAsync { try await !prometheus.query(query).isEmpty }
            #expect(hasData, "\(query) finds nothing")
        }
        // Quantiles by notification, of the one route that has taken any.
        for name in ["send", "delivery"] {
            let quantile =
                "histogram_quantile(0.5, sum by (le) (rate(holdfast_\(name)_duration_seconds_bucket{route=\"example\"}[1m])))"
            #expect(
                try await waitUntilAsync {
                    let value = try await prometheus.query(quantile).first?.value ?? .nan
                    return value > 0 && value < 60
                }, "\(quantile)")
        }
    }

    private func metrics(_ world: ServiceWorld) async throws {
        let text = try await world.get("/metrics").text
        let checked = try await promtool("check", "metrics", input: text)
        #expect(checked.status == 0 && checked.output + checked.errors == "", "\(checked.output)\(checked.errors)")
        let lines = try PrometheusLines(text)
        // Each notification is counted once, in whatever turn its answer came.
        let sent = try #require(lines.values["holdfast_send_duration_seconds_count{route=\"example\"}"])
        #expect(sent >= 599 && sent == lines.values["holdfast_sent_total{route=\"example\"}"])
        let confirmed = try #require(lines.values["holdfast_confirmed_total{route=\"example\",by=\"answer\"}"])
        #expect(lines.values["holdfast_delivery_duration_seconds_count{route=\"example\"}"] == confirmed)
        #expect(lines.values["holdfast_journal_limit_bytes"] == 1_048_576)
        #expect(lines.values["holdfast_build_info{version=\"\(ProgramVersion.number)\",commit=\"unknown\"}"] == 1)
        #expect(text.contains("holdfast_condition{kind=\"credentials-refused\",about=\"route\",subject=\"wrong\""))
        #expect(try #require(lines.values["holdfast_sync_duration_seconds_count"]) > 0)
    }

    private func firing(_ world: ServiceWorld, _ prometheus: PrometheusProcess) async throws {
        let paused = try await Tool.run(
            "lanes", "pause", "example", "--journal", world.folder("push.journal"))
        #expect(paused.status == 0, "\(paused.errors)")
        let filling = try world.send(6000, journal: "filling")
        defer { filling.kill(SIGKILL) }
        // A full journal is told while notifications are refused; the others stay.
        for name in [
            "HoldfastJournalFull", "HoldfastLaneStopped", "HoldfastCredentialsRefused", "HoldfastMassBadTokens",
            "HoldfastCertificateExpiring",
        ] {
            let fires = try await waitUntilAsync { try await prometheus.alerts()[name] != nil }
            let firing = try await prometheus.alerts().keys.sorted()
            #expect(fires, "\(name) does not fire, but \(firing)")
        }
        #expect(try await prometheus.alerts()["HoldfastDown"] == nil)
        let certificate = try await prometheus.alerts()["HoldfastCertificateExpiring"]?["summary"] ?? ""
        #expect(certificate.hasPrefix("The certificate of listener http2 expires in 2d 23h 5"))
        world.kill()
        #expect(try await waitUntilAsync { try await prometheus.alerts()["HoldfastDown"] != nil })
    }
}

/// The lines of a page of metrics, by name and labels.
struct PrometheusLines {
    let values: [String: Double]

    init(_ text: String) throws {
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let space = try #require(line.lastIndex(of: " "))
            values[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        self.values = values
    }
}
