import BuiltProgram
import Foundation
import Testing

/// The real program, the real journal, the real mock, and kill -9. The loop itself is a script that operators and
/// maintainers run for longer: `Scripts/crash-loop 1000`.
@Suite struct KillTests {
    @Test(
        "Killed at ten random moments, nothing accepted is lost, no more than a window goes twice, and every line arrives",
        .timeLimit(.minutes(10)))
    func killLoop() async throws {
        let seed = UInt32.random(in: 0..<(1 << 30))
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            URL(fileURLWithPath: "/bin/bash"), ["Scripts/crash-loop", "10", "\(seed)"],
            environment: ["HOLDFAST": program.path])
        let text = outcome.text
        #expect(outcome.status == 0, "seed \(seed): \(text)")
        let cycles = text.split(separator: "\n").filter { $0.hasPrefix("{") }
        #expect(cycles.count == 10, "seed \(seed): \(text)")
        // A loop in which the sender is never hit in the middle would prove nothing.
        let hits = cycles.count { $0.contains("\"killed\":true") && !$0.contains("\"recovered\":0,") }
        #expect(hits >= 2, "seed \(seed): \(text)")
    }
}
