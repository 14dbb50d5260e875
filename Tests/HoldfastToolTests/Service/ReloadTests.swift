import Foundation
import Holdfast
import HoldfastGateway
import HoldfastService
import Scratch
import Testing

@testable import HoldfastTool

@Suite("Another configuration")
struct ReloadTests {
    @Test("Routes, limits and the log's level change under traffic: nothing is lost or sent twice, no connection ends")
    func underTraffic() async throws {
        let world = try await ServiceWorld(mockFlags: ["--json"])
        let tool = try await world.serve()
        let sender = try world.send(20_000, journal: "sender")
        let more = """
              - name: added
                topics: [com.example.added]
                endpoint: \(world.mock.endpoint)
                trust: certs/ca.pem
            """
        // Terms, a route more, another connector, a route less; and each time other bounds.
        for (number, route) in [
            "    connections: 1", "    rate: {per-second: 1000000}\n\(more)", "    streams: 500\n\(more)", "",
        ]
        .enumerated() {
            #expect(try await waitUntil { try world.mock.taken() >= 2000 * (number + 1) })
            try world.writeConfiguration(
                route: route,
                more: "limits: {window: \(1000 + number)}\nlog: {level: \(number == 3 ? "warning" : "info")}")
            tool.kill(SIGHUP)
            // At warning its own line is not said; the figures tell.
            let after = "holdfast_reloads_total{result=\"taken\"} \(number + 1)\n"
            #expect(try await waitUntilAsync { try await world.get("/metrics").text.contains(after) }, "\(number)")
        }
        let sent = try await sender.result()
        #expect(sent.status == 0, "\(sent.output)\(sent.errors)")
        #expect(try sent.count("possibleDuplicates") == 0)
        #expect(try await waitUntil { try world.mock.taken() == 20_000 })
        let tokens = try world.folder.read("ledger").split(separator: "\n").map { line in
            try #require(line.firstMatch(of: /"token":"([0-9a-f]+)"/)).1
        }
        #expect(Set(tokens).count == 20_000)
        let log = try world.log
        #expect(log.contains("added added") && log.contains("replaced example"), "\(log)")
        #expect(!log.contains("taken up; routes: replaced example; removed added"), "the level was not taken up")
        let metrics = try await world.get("/metrics").text
        #expect(!metrics.contains(/\nholdfast_gateway_faults_total\{[^}]*\} [1-9]/), "\(metrics)")
        _ = try await world.stop()
        // The mock's own word: the route's connections before and after its connector was exchanged, and none besides.
        let counted = try await world.mock.stop().output
        let connections = try #require(counted.firstMatch(of: /"connections":(\d+)/)).1
        #expect(try #require(Int(connections)) <= 5, "\(counted)")
    }
}

@Suite("The unit for systemd")
struct UnitTests {
    private static let analyze = "/usr/bin/systemd-analyze"

    private func unit() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("Scripts/systemd/holdfast.service"), encoding: .utf8)
    }

    @Test("It runs the command that there is, waits for its word, and gives it its time to end")
    func says() async throws {
        let unit = try unit()
        for line in [
            "Type=notify", "ExecStart=/usr/local/bin/holdfast serve --config /etc/holdfast/holdfast.yaml",
            #"ExecReload=/bin/sh -c "kill -HUP $MAINPID""#, "StateDirectory=holdfast",
            "RestartPreventExitStatus=64 72 78 SIGABRT SIGBUS SIGILL SIGSEGV SIGTRAP", "WatchdogSignal=SIGKILL",
        ] { #expect(unit.contains("\n\(line)\n"), "\(line)") }
        #expect(try await Tool.run("help", "serve").status == 0)
    }

    @Test(
        "systemd reads it without a word", .enabled(if: FileManager.default.isExecutableFile(atPath: Self.analyze)))
    func verifies() async throws {
        let folder = try TemporaryFolder()
        // It looks for the program and the user, which are there once it is installed.
        let text = try unit().replacingOccurrences(of: "/usr/local/bin/holdfast", with: Tool.path)
            .replacingOccurrences(of: "User=holdfast\n", with: "").replacingOccurrences(
                of: "Group=holdfast\n", with: "")
        try folder.write("holdfast.service", text)
        let result = try await RunningTool(["verify", folder("holdfast.service")], program: Self.analyze).result()
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    }
}
