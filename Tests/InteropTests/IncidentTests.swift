import BuiltProgram
import Foundation
import Testing

/// A few incidents, answered and mended with the tool alone. All of them, with the page and from alerts: `Scripts/incidents`.
@Suite("Incidents", .serialized, .timeLimit(.minutes(2)))
struct IncidentTests {
    private static let isThere =
        Foreign.areAllRequired || (Foreign.path(of: "node") != nil && Foreign.path(of: "python3") != nil)

    @Test(
        "A service that is down, a wrong topic and a campaign to take back are answered and mended in three commands each",
        .enabled(if: isThere, "Debian package nodejs or python3 is not installed"))
    func quick() async throws {
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/incidents"), ["--quick"],
            environment: ["HOLDFAST": program.path])
        #expect(outcome.status == 0, "\(outcome.text)")
    }
}
