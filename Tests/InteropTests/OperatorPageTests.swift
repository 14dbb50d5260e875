import BuiltProgram
import Foundation
import TestPostgres
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
    func used() async throws { try await trial() }

    @Test(
        "Two hosts on one database show each other, pause for both, find each other's entries, and say which is gone",
        .enabled(if: isThere, "Debian package chromium or nodejs is not installed"),
        .enabled(if: PostgresProgram.isWanted, "PostgreSQL is not installed"))
    func fleet() async throws { try await trial("--fleet") }

    private func trial(_ flags: String...) async throws {
        let program = try #require(BuiltProgram.named("holdfast"))
        let outcome = try await BuiltProgram.run(
            BuiltProgram.root.appendingPathComponent("Scripts/page-trial"), ["--quick"] + flags,
            environment: ["HOLDFAST": program.path])
        #expect(outcome.status == 0, "\(outcome.text)")
    }
}
