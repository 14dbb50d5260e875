import BuiltProgram
import Foundation
import Testing

/// The real service, the real journal, a receiver that we did not write, and kill -9 of both. For longer:
/// `Scripts/webhook-kills --kills 50 --count 5000`.
@Suite struct WebhookKillTests {
    private struct Row: Decodable {
        var accepted: Int
        var told: Int
        var lost: Int
        var kills: [String: Int]
        var faults: [String]
    }

    @Test(
        "Whoever is killed, and however the receiver behaves, it is told everything, in order, doubles marked",
        .timeLimit(.minutes(3)), arguments: [1, 2])
    func killed(_ seed: Int) async throws {
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/webhook-kills"),
            ["--kills", "6", "--count", "300", "--seed", "\(seed)"], environment: ["HOLDFAST": program.path])
        #expect(outcome.status == 0, "\(outcome.text)")
        let row = try JSONDecoder().decode(Row.self, from: Data(try #require(outcome.summary, "\(outcome.text)").utf8))
        #expect(row.accepted == 300 && row.told >= 300 && row.lost == 0 && row.faults.isEmpty, "\(outcome.text)")
        #expect(row.kills.values.reduce(0, +) == 6)
    }
}
