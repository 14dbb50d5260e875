import Foundation
import Holdfast
import Scratch
import Testing

/// Without a terminal, a home or anything else of a user's: as in a bare container.
@Suite("holdfast demo", .serialized)
struct DemoCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var temporary: [String: String] { ["TMPDIR": folder("tmp")] }

    private func start(_ arguments: [String]) throws -> RunningTool {
        try FileManager.default.createDirectory(atPath: folder("tmp"), withIntermediateDirectories: true)
        return try Tool.start(arguments, environment: temporary)
    }

    private func remains() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder("tmp")) }

    @Test("A sender is killed in the middle, nothing is lost, and nothing remains of the demo")
    func story() async throws {
        let result = try await start(["demo", "--count", "500"]).result()
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        for words in [
            "$ holdfast mock http2 --listen", "$ holdfast send notifications.ndjson --endpoint https://127.0.0.1:",
            "killed; the service had taken ", "$ holdfast journal status", "$ holdfast recover",
            "$ holdfast send notifications.ndjson --resume", "$ holdfast mock audit ledger.ndjson --input",
            "== Nothing was lost. ", "== What to type next", "holdfast demo gateway", "holdfast init",
        ] {
            #expect(result.output.contains(words), "\(words) is not in \(result.output)")
        }
        #expect(try remains().isEmpty)
    }

    @Test("Its figures are one JSON object, and a named directory is kept for this user alone")
    func figures() async throws {
        let result = try await start(["demo", "crash", "--count", "300", "--json", "--keep", folder("kept")]).result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.count("notifications") == 300 && result.count("window") == 30)
        #expect(try result.count("lost") == 0 && result.count("left") == 0 && result.count("duplicates") <= 30)
        #expect(try (75..<300).contains(result.count("takenAtKill")) && result.count("leftByKill") > 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder("kept"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
        let audit = try await Tool.run(
            "mock", "audit", folder("kept/ledger.ndjson"), "--input", folder("kept/notifications.ndjson"),
            "--allow-duplicates", "30")
        #expect(audit.status == 0, "\(audit.output)")
        let again = try await start(["demo", "--keep", folder("kept")]).result()
        #expect(again.status == 73 && again.errors.contains("has files in it already"), "\(again.errors)")
    }

    @Test("A user's own journal and configuration are not touched")
    func environment() async throws {
        let result = try await Tool.run(
            "demo", "--count", "100", "--json",
            environment: [
                "HOLDFAST_JOURNAL": folder("mine"), "HOLDFAST_CONFIG": folder("none.yaml"),
                "HOLDFAST_ROUTES_0_ENDPOINT": "production",
            ])
        #expect(result.status == 0, "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("mine")))
    }

    @Test(
        "A signal ends it in the middle, with its processes and its files",
        arguments: [(SIGINT, 130 as Int32), (SIGTERM, 143 as Int32), (SIGHUP, 129 as Int32)])
    func signals(signal: Int32, code: Int32) async throws {
        let demo = try start(["demo", "--count", "200000"])
        let isUnderWay = try await waitUntil { try demo.output.contains("$ holdfast send") }
        #expect(isUnderWay)
        let directory = try #require(try remains().first)
        demo.kill(signal)
        let result = try await demo.result()
        #expect(result.status == code, "\(result.errors)")
        #expect(try remains().isEmpty)
        // Whoever worked there has ended, or is about to.
        let isQuiet = await waitUntil { !Self.isUsed(directory) }
        #expect(isQuiet)
    }

    /// Whether a process works in a directory of this name.
    private static func isUsed(_ directory: String) -> Bool {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.contains { name in
            let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")
            return place?.contains(directory) ?? false
        }
    }

    @Test("Numbers that show nothing are refused")
    func counts() async throws {
        #expect(try await Tool.run("demo", "--count", "99").status == 64)
        #expect(try await Tool.run("demo", "gateway", "--listen", "0.0.0.0:0").status == 64)
        #expect(try await Tool.run("demo", "gateway", "--keep", "").status == 64)
    }

    /// Runs the gateway's demo until it tells where it is, then `body`, then ends it.
    private func withGateway(
        _ flags: [String], until words: String, _ body: (RunningTool) async throws -> Void
    ) async throws -> Tool.Result {
        let demo = try start(["demo", "gateway"] + flags)
        let serves = try await waitUntil { try demo.output.contains(words) || !demo.isRunning }
        let said = try demo.output + demo.errors
        try #require(serves && demo.isRunning, "\(said)")
        try await body(demo)
        demo.kill(SIGINT)
        return try await demo.result()
    }

    @Test("The lines that the gateway prints work as they are, and each outcome is shown")
    func gateway() async throws {
        let result = try await withGateway([], until: "Outcomes, as they come") { demo in
            let lines = try demo.output.split(separator: "\n").map(String.init)
            let curls = lines.filter { $0.hasPrefix("curl -i --http2") }
            #expect(curls.count == 2)
            for (command, expected) in [(curls[0], "200"), (curls[1], "200")] {
                let answer = try await RunningTool(["-c", command], program: "/bin/sh").result()
                #expect(answer.output.hasPrefix("HTTP/2 \(expected)"), "\(answer.output)\(answer.errors)")
            }
            let isRejected = try await waitUntil { try demo.output.contains("dead…dead  rejected: Unregistered") }
            #expect(isRejected)
            let again = try await RunningTool(["-c", curls[1]], program: "/bin/sh").result()
            #expect(again.output.hasPrefix("HTTP/2 410"), "\(again.output)")
            for command in lines.filter({ $0.hasPrefix("curl http://") }) {
                let answer = try await RunningTool(["-c", "\(command) --fail"], program: "/bin/sh").result()
                #expect(answer.status == 0 && !answer.output.isEmpty, "\(command): \(answer.errors)")
            }
            let node = try #require(lines.first { $0.hasPrefix("node -e") })
            if FileManager.default.isExecutableFile(atPath: "/usr/bin/node") {
                let answer = try await RunningTool(["-c", node], program: "/bin/sh").result()
                #expect(answer.output.hasPrefix("200 "), "\(answer.output)\(answer.errors)")
            }
            let look = try #require(lines.first { $0.hasPrefix("holdfast lanes list") })
            let listed = try await Tool.start(look.split(separator: " ").dropFirst().map(String.init)).result()
            #expect(listed.status == 0 && listed.output.contains("connected"), "\(listed.output)\(listed.errors)")
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("00fc…e8f0  confirmed  apns-id "), "\(result.output)")
        #expect(result.output.contains("rejected   1") || result.output.contains("rejected  1"), "\(result.output)")
        #expect(try remains().isEmpty)
    }

    @Test("As JSON, the gateway prints its addresses, each outcome, and the sums")
    func gatewayJSON() async throws {
        let result = try await withGateway(["--json"], until: "\n") { demo in
            let places = try #require(
                try JSONSerialization.jsonObject(with: Data(try demo.output.utf8)) as? [String: String])
            let gateway = try #require(places["gateway"])
            let authority = try #require(places["authority"])
            let command =
                "curl -s --http2 --cacert \(authority) -H 'apns-topic: com.example.app' -d '{\"aps\":{}}' https://\(gateway)/3/device/00fc"
            _ = try await RunningTool(["-c", command], program: "/bin/sh").result()
            let isTold = try await waitUntil { try demo.output.contains(#""outcome":"confirmed""#) }
            #expect(isTold)
        }
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.lines().last?["confirmed"] as? Int == 1)
    }
}
