import BuiltProgram
import Foundation
import Testing

/// Senders on clients that we did not write, through the real gateway. The long form, with 10,000 notifications of each, is
/// a script: `Scripts/gateway-interop`.
@Suite("Senders of others through the gateway", .serialized, .timeLimit(.minutes(3)))
struct GatewayInteropTests {
    private static let python = BuiltProgram.root.appendingPathComponent(".build/python/bin/python").path
    /// Scripts/bootstrap --tests has put there what PyPI has.
    private static let hasPython = Foreign.areAllRequired || FileManager.default.isExecutableFile(atPath: python)

    /// Those that this machine has, or that are required. Go and a JDK are not installed by Scripts/bootstrap: they are
    /// hundreds of megabytes.
    private static let senders: [String] =
        (hasPython ? ["aioapns", "httpx", "binary"] : []) + ["node", "curl"].filter(Foreign.shouldTest)
        + [("go", "go"), ("javac", "java")].filter { Foreign.path(of: $0.0) != nil }.map(\.1)

    /// One line of JSON for each trial.
    private struct Row: Decodable {
        var told: Int
        var lost: Int
        var kills: Int
        var restarts: Int
        var duplicates: Int
    }

    @Test("What the gateway answered with 200 arrives, although it is killed in the middle", arguments: senders)
    func killed(sender: String) async throws {
        let outcome = try await run("gateway-interop", "--count", "400", sender)
        #expect(outcome.status == 0, "\(outcome.text)")
        let row = try JSONDecoder().decode(Row.self, from: Data(try #require(outcome.summary, "\(outcome.text)").utf8))
        #expect(row.told == 400 && row.lost == 0 && row.kills == 1, "\(outcome.text)")
    }

    /// Go is not installed by Scripts/bootstrap: it may be missing.
    private static let go = Foreign.path(of: "go") == nil ? [] : ["go"]

    @Test(
        "Nothing that was answered 200 is lost although requests wait for the push service, over ten kills",
        .enabled(if: Foreign.shouldTest("node"), "Debian package nodejs is not installed"))
    func killedWhileWaiting() async throws {
        let outcome = try await run("gateway-interop", "--answer", "2s", "--kills", "10", "--count", "3000", "node")
        #expect(outcome.status == 0, "\(outcome.text)")
        let row = try JSONDecoder().decode(Row.self, from: Data(try #require(outcome.summary, "\(outcome.text)").utf8))
        #expect(row.told == 3000 && row.lost == 0 && row.kills == 10, "\(outcome.text)")
    }

    @Test(
        "Scheduled by a foreign sender, none goes before its time and none is lost over kills before, in and after it",
        .enabled(if: Foreign.shouldTest("node"), "Debian package nodejs is not installed"))
    func scheduled() async throws {
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/gateway-schedules"),
            ["--count", "300", "--kills", "4", "--after", "6"], environment: ["HOLDFAST": program.path])
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.contains(#""told": 300, "taken": 300, "early": 0, "lost": 0"#), "\(outcome.text)")
    }

    @Test(
        "A gateway whose requests wait answers as the push service does, request by request",
        arguments: (hasPython ? ["aioapns", "binary"] : []) + ["node", "curl"].filter(Foreign.shouldTest) + go)
    func answers(client: String) async throws {
        let outcome = try await run("gateway-answers", "--count", client == "curl" ? "400" : "2000", client)
        #expect(outcome.status == 0, "\(outcome.text)")
    }

    @Test(
        "A gateway that forgets what it has answered is found out",
        .enabled(if: Foreign.shouldTest("node"), "Debian package nodejs is not installed"))
    func selfTest() async throws {
        let outcome = try await run("gateway-interop", "--self-test", "--count", "1000", "node")
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.contains("were answered 200 and lost"), "\(outcome.text)")
    }

    @Test(
        "Ended in order and started again, nothing is lost and nothing goes twice",
        .enabled(if: Foreign.shouldTest("node") && Foreign.shouldTest("curl"), "Node or curl is not installed"))
    func restarted() async throws {
        let outcome = try await run(
            "gateway-interop", "--gently", "--together", "--kills", "3", "--count", "400", "node", "curl")
        #expect(outcome.status == 0, "\(outcome.text)")
        let row = try JSONDecoder().decode(Row.self, from: Data(try #require(outcome.summary, "\(outcome.text)").utf8))
        #expect(row.told == 800 && row.lost == 0 && row.restarts == 3 && row.duplicates == 0, "\(outcome.text)")
    }

    @Test(
        "While neighbours misbehave in every way at once, good senders get every answer, and the gateway does not grow",
        .enabled(if: hasPython && Foreign.shouldTest("node"), "Scripts/bootstrap --tests was not run"))
    func neighbours() async throws {
        let outcome = try await run(
            "gateway-neighbours", "--count", "500", "--connections", "2", "--together")
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text.split(separator: "\n").count { $0.hasPrefix("{") } >= 15, "\(outcome.text)")
    }

    private func run(_ script: String, _ arguments: String...) async throws -> BuiltProgram.Outcome {
        let program = try #require(BuiltProgram.named("holdfast"))
        return try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/\(script)"), ["--json"] + arguments,
            environment: ["HOLDFAST": program.path])
    }
}
