import BuiltProgram
import Foundation
import Testing

/// A short run of what `Scripts/http2-faults` does at length: see Docs/Internals/FaultMatrix.md.
@Suite("A service of APNs over HTTP/2 that misbehaves") struct HTTP2FaultsTests {
    private struct Summary: Decodable {
        let breaches: Int
        let failed: Int
        let faults: Int
        let lost: Int
        let trials: Int
    }

    @Test(
        "The matrix sees what no sender can: what was confirmed and never taken, or taken twice",
        .timeLimit(.minutes(1)))
    func liars() async throws {
        let program = try #require(BuiltProgram.named("HTTP2Faults"))
        let liars = [
            ("liar-lost", "5 lost"), ("liar-twice", "5 duplicates, and no more than 0 were left open"),
            ("liar-reason", "5 have a wrong outcome"),
        ]
        for (name, breach) in liars {
            let outcome = try await BuiltProgram.run(program, ["--count", "1000", "--only", name])
            #expect(outcome.status == 1 && outcome.text.contains("BREACH: \(breach)"), "\(outcome.text)")
        }
    }

    @Test("Under every fault, each notification has one outcome and none is lost", .timeLimit(.minutes(5)))
    func everyFault() async throws {
        let program = try #require(BuiltProgram.named("HTTP2Faults"))
        let outcome = try await BuiltProgram.run(program, ["--count", "1200", "--jobs", "16", "--limit", "150"])
        let line = try #require(outcome.summary, "\(outcome.text)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(outcome.status == 0 && summary.breaches == 0 && summary.failed == 0, "\(outcome.text)")
        #expect(summary.lost == 0)
        #expect(summary.faults >= 20 && summary.trials > summary.faults)
    }

    @Test(
        "A service that ends each connection after 150 requests in an orderly way is followed without a pause",
        .timeLimit(.minutes(2)))
    func orderlyEnds() async throws {
        let program = try #require(BuiltProgram.named("HTTP2Faults"))
        // Forty connections: charged as failed ones, they would take five minutes.
        let outcome = try await BuiltProgram.run(
            program, ["--count", "6000", "--only", "goaway", "--limit", "60"])
        let line = try #require(outcome.summary, "\(outcome.text)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(outcome.status == 0 && summary.breaches == 0 && summary.failed == 0, "\(outcome.text)")
    }
}
