import BuiltProgram
import Foundation
import Testing

/// A short run of what `Scripts/fuzz-http2` does at length.
@Suite("HTTP/2 peers that do anything") struct HTTP2FuzzTests {
    private struct Summary: Decodable {
        let breaches: Int
        let failed: Int
        let messages: Int
        let trials: Int
        let codes: [String: Int]
    }

    @Test(
        "Sessions neither crash nor hang nor hold more than their bound, and each request ends exactly once",
        .timeLimit(.minutes(3)), arguments: [1, 9113] as [UInt64])
    func random(seed: UInt64) async throws {
        let program = try #require(BuiltProgram.named("HTTP2Fuzz"))
        let outcome = try await BuiltProgram.run(program, ["--seed", "\(seed)", "--trials", "120"])
        let line = try #require(outcome.summary, "\(outcome.text)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(outcome.status == 0 && summary.breaches == 0, "\(outcome.text)")
        // Peers were failed for many reasons, and others understood, so that neither is a habit.
        #expect(summary.failed > 25 && summary.codes.count >= 5 && summary.messages > 500, "\(outcome.text)")
    }
}
