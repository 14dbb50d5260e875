import BuiltProgram
import Foundation
import Testing

/// A short run of what `Scripts/fuzz-verify` does at length.
@Suite("Journals damaged at random") struct JournalFuzzTests {
    private struct Summary: Decodable {
        let breaches: Int
        let damaged: Int
        let sound: Int
        let salvages: Int
        let trials: Int
    }

    @Test(
        "Verification and salvage end, call no damaged journal sound and no sound one damaged, and lose nothing that is there",
        .timeLimit(.minutes(3)), arguments: [1, 20_260] as [UInt64])
    func random(seed: UInt64) async throws {
        let program = try #require(BuiltProgram.named("JournalFuzz"))
        let outcome = try await BuiltProgram.run(program, ["--seed", "\(seed)", "--trials", "60"])
        let line = try #require(outcome.summary, "\(outcome.text)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(outcome.status == 0 && summary.breaches == 0, "\(outcome.text)")
        // Both verdicts occurred, so that neither is a habit.
        #expect(summary.damaged > 20 && summary.sound > 3 && summary.salvages > 10, "\(outcome.text)")
    }
}
