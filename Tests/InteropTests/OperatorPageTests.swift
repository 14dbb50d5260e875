import BuiltProgram
import Foundation
import Testing

/// The operators' page in a browser that we did not write. The long form, with pictures: `Scripts/page-trial --shots DIR`.
@Suite("The operators' page in a browser", .serialized, .timeLimit(.minutes(3)))
struct OperatorPageTests {
    private static let isThere =
        Foreign.areAllRequired
        || (["chromium", "chromium-browser", "google-chrome"].contains { Foreign.path(of: $0) != nil }
            && Foreign.path(of: "node") != nil)

    @Test(
        "It shows a service at work, pauses, resumes, searches, retries, and lets no other site in",
        .enabled(if: isThere, "Debian package chromium or nodejs is not installed"))
    func used() async throws {
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/page-trial"), ["--quick"],
            environment: ["HOLDFAST": program.path])
        #expect(outcome.status == 0, "\(outcome.text)")
    }
}
