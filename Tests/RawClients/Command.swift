internal import Dispatch
internal import Foundation

/// A command that we did not write, and what came of it.
package struct Command: Sendable {
    package let status: Int32
    /// What it printed, to either output.
    package let text: String

    package static func run(_ name: String, _ arguments: [String]) async throws -> Command {
        try await withCheckedThrowingContinuation { continuation in
            // On a thread of its own: waiting here would take one from the tests' servers.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try wait(name, arguments) })
            }
        }
    }

    private static func wait(_ name: String, _ arguments: [String]) throws -> Command {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        // Into a file: reading a pipe can be interrupted by a signal, which Foundation does not expect.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("printed-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // SIGKILL: the child has inherited the signal mask of a dispatch thread, which blocks all that can be blocked.
        let watchdog = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(30), execute: watchdog)
        defer { watchdog.cancel() }
        process.waitUntilExit()
        let printed = try Data(contentsOf: file)
        return Command(status: process.terminationStatus, text: String(decoding: printed, as: UTF8.self))
    }
}
