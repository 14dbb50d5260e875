import BuiltProgram
import Foundation
import Testing

/// A short run of what `Scripts/binary-faults` does at length: see Docs/Reference/BinaryProtocol.md.
@Suite("A service of the binary protocol that misbehaves") struct BinaryFaultsTests {
    private struct Summary: Decodable {
        let breaches: Int
        let failed: Int
        let lostToSilence: Int
        let trials: Int
    }

    private static func run(_ arguments: String...) async throws -> (status: Int32, text: String, summary: Summary) {
        let program = try #require(BuiltProgram.named("BinaryFaults"))
        let outcome = try await BuiltProgram.run(program, arguments)
        let line = try #require(outcome.summary, "\(outcome.text)")
        return (outcome.status, outcome.text, try JSONDecoder().decode(Summary.self, from: Data(line.utf8)))
    }

    @Test("Under every fault, each notification has one outcome and none is lost", .timeLimit(.minutes(5)))
    func everyFault() async throws {
        let (status, text, summary) = try await Self.run(
            "--notifications", "5000", "--window", "2000", "--quiet", "1500", "--jobs", "16", "--half")
        #expect(status == 0 && summary.breaches == 0 && summary.failed == 0, "\(text)")
        #expect(summary.trials > 30)
    }

    @Test(
        "A late error that fools the quiet period takes nothing with it, and does not fool the barrier",
        .timeLimit(.minutes(2)))
    func lateError() async throws {
        let (status, text, summary) = try await Self.run(
            "--notifications", "2000", "--window", "2000", "--quiet", "500", "--only", "late")
        #expect(status == 0, "\(text)")
        #expect(summary.lostToSilence == 0, "\(text)")
        let barriers = text.split(separator: "\n").filter { $0.contains("| barrier |") }
        #expect(barriers.count == 2 && barriers.allSatisfy { $0.contains("| 1998 | 2 | 0 | 0 | 0 |") }, "\(text)")
    }
}
