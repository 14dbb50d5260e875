internal import Foundation
internal import Holdfast
internal import HoldfastPlatform
internal import HoldfastTransport

/// This very program, to be run again in processes of its own.
enum OwnProgram {
    /// Where it lies.
    ///
    /// - Throws: ``ToolError`` when nothing tells.
    static func url() throws(ToolError) -> URL {
        let files = FileManager.default
        // The one that runs, whatever its first argument says. The link may be missing, and lead to a file that is gone.
        if let link = KernelNames.ownProgram, let path = try? files.destinationOfSymbolicLink(atPath: link),
            files.isExecutableFile(atPath: path)
        {
            return URL(fileURLWithPath: path)
        }
        if let path = Bundle.main.executablePath, files.isExecutableFile(atPath: path) {
            return URL(fileURLWithPath: path)
        }
        let name = CommandLine.arguments.first ?? "holdfast"
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let places = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        guard let path = places.first(where: files.isExecutableFile(atPath:)) else {
            throw ToolError(.internalFault, "the program's own file can't be found, so it can't run its parts")
        }
        return URL(fileURLWithPath: path).standardizedFileURL
    }

    /// The environment without what steers this program: a user's own journal and routes are not to be touched.
    static func environment(journal: String) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HOLDFAST_") }
        environment["HOLDFAST_JOURNAL"] = journal
        environment["HOLDFAST_CONFIG"] = ""
        return environment
    }
}

/// A command of this program in a process of its own, which is killed when this is forgotten.
final class OwnProcess: Sendable {
    enum Output {
        /// Where this process writes.
        case shared
        /// Both streams, in a new file.
        case file(String)
    }

    private let process: Monitor<Process>
    private let ending: AsyncStream<Int32>
    /// Its standard input. Once that is closed, or this process is gone, a mock ends.
    private let input = Pipe()

    /// - Parameter directory: its working directory.
    /// - Throws: ``ToolError`` when it can't be started.
    init(
        _ arguments: [String], in directory: String, environment: [String: String], output: Output
    ) throws(ToolError) {
        let process = Process()
        process.executableURL = try OwnProgram.url()
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.environment = environment
        process.standardInput = input
        let (ending, reports) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            reports.yield(
                process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus)
            reports.finish()
        }
        do {
            if case .file(let path) = output {
                try Data().write(to: URL(fileURLWithPath: path))
                process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                process.standardError = process.standardOutput
            }
            try process.run()
        } catch {
            throw ToolError(
                .internalFault,
                "`holdfast \(arguments.joined(separator: " "))` can't be run: \(FileFailure.words(error))")
        }
        self.process = Monitor(process)
        self.ending = ending
    }

    deinit { kill() }

    var isRunning: Bool { process.withLock(\.isRunning) }

    /// kill -9.
    ///
    /// - Returns: whether it ran still.
    @discardableResult
    func kill() -> Bool {
        process.withLock { process in
            process.isRunning && Foundation.kill(process.processIdentifier, SIGKILL) == 0
        }
    }

    /// Waits for its end, once.
    ///
    /// - Returns: its exit code; for one that a signal ended, 128 and its number.
    /// - Throws: `CancellationError`.
    func end() async throws -> Int32 {
        for await status in ending { return status }
        throw CancellationError()
    }
}
