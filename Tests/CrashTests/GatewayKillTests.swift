import BuiltProgram
import Foundation
import Testing

/// The real gateway, the real journal, and kill -9 while senders of both protocols are at it. For longer:
/// `Scripts/gateway-interop --together --kills 5 --runs 100 node node binary binary`.
@Suite struct GatewayKillTests {
    private struct Row: Decodable {
        var told: Int
        var lost: Int
        var kills: Int
    }

    @Test(
        "Killed three times under senders of both protocols, nothing that was answered or proven is lost",
        .enabled("Node is not installed") { await hasNode() }, .timeLimit(.minutes(3)))
    func killed() async throws {
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/gateway-interop"),
            ["--json", "--together", "--kills", "3", "--count", "1000", "node", "node", "binary", "binary"],
            environment: ["HOLDFAST": program.path])
        #expect(outcome.status == 0, "\(outcome.text)")
        let row = try JSONDecoder().decode(Row.self, from: Data(try #require(outcome.summary, "\(outcome.text)").utf8))
        #expect(row.told == 4000 && row.lost == 0 && row.kills == 3, "\(outcome.text)")
    }

    private static func hasNode() async -> Bool {
        if ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1" { return true }
        do {
            return try await BuiltProgram.run(URL(fileURLWithPath: "/usr/bin/env"), ["node", "--version"]).status == 0
        } catch {
            return false
        }
    }
}
