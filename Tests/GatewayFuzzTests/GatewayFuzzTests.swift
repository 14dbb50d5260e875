import BuiltProgram
import Foundation
import Testing

/// A short run of what `Scripts/fuzz-gateway` does at length.
@Suite("Clients that do anything to a gateway") struct GatewayFuzzTests {
    private struct Summary: Decodable {
        let breaches: Int
        let trials: Int
        let goodAnswers: Int
        let hostileAnswers: Int
        let endings: [String: Int]
    }

    @Test(
        "Beside hostile clients others are served, no request is answered twice, and 200 means journaled",
        .timeLimit(.minutes(2)))
    func random() async throws {
        let program = try #require(BuiltProgram.named("GatewayFuzz"))
        let outcome = try await BuiltProgram.run(program, ["--seed", "2197", "--trials", "80"])
        let line = try #require(outcome.summary, "\(outcome.text)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(outcome.status == 0 && summary.breaches == 0, "\(outcome.text)")
        #expect(summary.goodAnswers == 20 * summary.trials && summary.hostileAnswers > 100, "\(outcome.text)")
        // Connections were ended for several reasons, so that none is a habit.
        #expect(summary.endings.count >= 3, "\(outcome.text)")
    }
}
