import Foundation
import Testing

/// The real program, the real journal, the real mock, and kill -9. The loop itself is a script that operators and
/// maintainers run for longer: `Scripts/crash-loop 1000`.
@Suite struct KillTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The program that was built together with these tests.
    private static var program: URL? {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0])
        for _ in 0..<4 {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent("holdfast")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        return nil
    }

    @Test(
        "Killed at ten random moments, nothing accepted is lost, no more than a window goes twice, and every line arrives",
        .timeLimit(.minutes(10)))
    func killLoop() async throws {
        let seed = UInt32.random(in: 0..<(1 << 30))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["Scripts/crash-loop", "10", "\(seed)"]
        process.currentDirectoryURL = Self.root
        process.environment = ProcessInfo.processInfo.environment
            .merging(["HOLDFAST": try #require(Self.program).path]) { $1 }
        // Into a file, and without blocking: the threads that run tests are few.
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        process.standardOutput = try FileHandle(forWritingTo: path)
        process.standardError = process.standardOutput
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let text = try String(contentsOf: path, encoding: .utf8)
        #expect(process.terminationStatus == 0, "seed \(seed): \(text)")
        let cycles = text.split(separator: "\n").filter { $0.hasPrefix("{") }
        #expect(cycles.count == 10, "seed \(seed): \(text)")
        // A loop in which the sender is never hit in the middle would prove nothing.
        let hits = cycles.count { $0.contains("\"killed\":true") && !$0.contains("\"recovered\":0,") }
        #expect(hits >= 2, "seed \(seed): \(text)")
    }
}
