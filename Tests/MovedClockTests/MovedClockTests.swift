import BuiltProgram
import Testing

/// The program is one of its own, since it stands in for libc's calls.
@Suite("Moved clocks") struct MovedClockTests {
    @Test(
        "No thread waits by the wall clock, whether it is ahead, behind, or set right meanwhile",
        .timeLimit(.minutes(2)), arguments: [[7200, 0], [-7200, 0], [0, 7200], [0, -7200]])
    func waits(_ seconds: [Int]) async throws {
        let program = try #require(BuiltProgram.named("MovedClock"))
        let outcome = try await BuiltProgram.run(program, seconds.map { "\($0)" })
        #expect(
            outcome.status == 0 && outcome.text.hasSuffix("sent 200\n"), "status \(outcome.status): \(outcome.text)")
    }
}
