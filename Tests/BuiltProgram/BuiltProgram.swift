package import Foundation

/// A program that was built together with the tests that run it.
package enum BuiltProgram {
    /// The folder of the package.
    package static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Nil when it was not built.
    package static func named(_ name: String) -> URL? {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0])
        for _ in 0..<4 {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        return nil
    }

    /// How a program ended.
    package struct Outcome: Sendable {
        package let status: Int32
        /// Standard output and error.
        package let text: String

        /// The summary, a line of JSON: the last one.
        package var summary: Substring? { text.split(separator: "\n").last { $0.hasPrefix("{") } }
    }

    /// Runs a program in the package's folder to its end.
    package static func run(
        _ program: URL, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = root
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
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
        return Outcome(status: process.terminationStatus, text: try String(contentsOf: path, encoding: .utf8))
    }
}
