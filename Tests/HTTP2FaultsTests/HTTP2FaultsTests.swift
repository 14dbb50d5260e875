import BuiltProgram
import Foundation
import Testing

/// A short run of what `Scripts/http2-faults` does at length: see Docs/FaultMatrix.md.
@Suite("A service of APNs over HTTP/2 that misbehaves") struct HTTP2FaultsTests {
    private struct Summary: Decodable {
        let breaches: Int
        let failed: Int
        let faults: Int
        let lost: Int
        let trials: Int
    }

    @Test("Under every fault, each notification has one outcome and none is lost", .timeLimit(.minutes(5)))
    func everyFault() async throws {
        let program = try #require(BuiltProgram.named("HTTP2Faults"))
        let outcome = try await BuiltProgram.run(program, ["--count", "2000", "--jobs", "8", "--limit", "60"])
        let line = try #require(outcome.summary, "\(outcome.text)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(outcome.status == 0 && summary.breaches == 0 && summary.failed == 0, "\(outcome.text)")
        #expect(summary.lost == 0)
        #expect(summary.faults >= 20 && summary.trials > summary.faults)
    }
}
