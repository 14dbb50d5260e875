import Foundation
import Testing

/// A machine whose clock is set to a year in which the nanoseconds since 1970 are no `Int64` any more.
@Suite(.enabled(if: FarClock.environment != nil, "libfaketime is not installed"))
struct FarClockTests {
    @Test("Notifications are taken, tried and kept by a clock past the year 2262, and no process dies of it")
    func farClock() async throws {
        let environment = try #require(FarClock.environment)
        let folder = try TemporaryFolder()
        let taken = try await Tool.run(
            "send", "--journal", folder("j"), "--endpoint", "https://127.0.0.1:1", "--topic", "com.example.app",
            "--token", String(repeating: "ab", count: 32), "--alert", "Hello", "--queue-only", environment: environment)
        #expect(taken.status == 0, "\(taken.errors)")
        let tried = try await Tool.run(
            "recover", "--journal", folder("j"), "--give-up-after", "1s", environment: environment)
        #expect(tried.status == 75, "\(tried.errors)")
        let listed = try await Tool.run("journal", "list", "--journal", folder("j"), environment: environment)
        #expect(listed.status == 0 && listed.output.contains("2300-01-01T"), "\(listed.output)\(listed.errors)")
    }
}

private enum FarClock {
    /// Nil where libfaketime is not installed.
    static let environment: [String: String]? = {
        let places = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
        guard let library = places.first(where: FileManager.default.fileExists(atPath:)) else { return nil }
        return ["LD_PRELOAD": library, "FAKETIME": "@2300-01-01 00:00:00", "FAKETIME_DONT_FAKE_MONOTONIC": "1"]
    }()
}
