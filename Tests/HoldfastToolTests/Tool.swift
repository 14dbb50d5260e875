import Foundation
import Holdfast
import Scratch
import Testing

/// The program as users run it: a process of its own.
struct Tool {
    struct Result {
        let status: Int32
        let output: String
        let errors: String

        /// The single JSON object on standard output.
        func json() throws -> [String: Any] {
            let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
            return try #require(object)
        }

        func count(_ name: String) throws -> Int { try #require(json()[name] as? Int, "\(name) in \(output)") }
    }

    /// Beside the test bundle, where the build puts it.
    static let path: String = {
        let bundle = Bundle.allBundles.map(\.bundlePath) + [CommandLine.arguments[0], Bundle.main.bundlePath]
        for place in bundle {
            var folder = URL(fileURLWithPath: place)
            for _ in 0..<4 {
                folder.deleteLastPathComponent()
                let candidate = folder.appendingPathComponent("holdfast").path
                if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            }
        }
        return "holdfast"
    }()

    /// Runs it to its end; past the limit it is killed and the test fails.
    static func run(
        _ arguments: String..., input: String? = nil, environment: [String: String] = [:],
        limit: Duration = .seconds(60)
    ) async throws -> Result {
        try await start(arguments, input: input, environment: environment).result(limit: limit)
    }

    static func start(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
    ) throws -> RunningTool {
        try RunningTool(arguments, input: input, environment: environment)
    }
}

/// A process that runs, with its output in files so that no pipe can fill up.
final class RunningTool: Sendable {
    private let process: Monitor<Process>
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - pipe: what it reads in place of `input`.
    ///   - program: default: ours.
    init(
        _ arguments: [String], input: String? = nil, pipe: Pipe? = nil, environment: [String: String] = [:],
        program: String = Tool.path
    ) throws {
        folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { $0.key != "HOLDFAST_JOURNAL" }
            // Nor the configuration of a service that is installed here.
            .merging(["HOLDFAST_CONFIG": ""]) { $1 }.merging(environment) { $1 }
        for name in ["output", "errors", "input"] { try folder.write(name, name == "input" ? input ?? "" : "") }
        process.standardOutput = try FileHandle(forWritingTo: folder.url("output"))
        process.standardError = try FileHandle(forWritingTo: folder.url("errors"))
        if let pipe {
            process.standardInput = pipe
        } else {
            process.standardInput = try FileHandle(forReadingFrom: folder.url("input"))
        }
        try process.run()
        self.process = Monitor(process)
    }

    deinit { kill(SIGKILL) }

    var output: String { get throws { try folder.read("output") } }

    var errors: String { get throws { try folder.read("errors") } }

    var isRunning: Bool { process.withLock(\.isRunning) }

    var processIdentifier: Int32 { process.withLock(\.processIdentifier) }

    func kill(_ signal: Int32) {
        process.withLock { process in
            if process.isRunning { _ = Foundation.kill(process.processIdentifier, signal) }
        }
    }

    func result(limit: Duration = .seconds(60)) async throws -> Tool.Result {
        let ended = await waitUntil(limit: limit) { !self.isRunning }
        if !ended {
            kill(SIGKILL)
            Issue.record("holdfast did not end within \(limit)")
        }
        let status = process.withLock { process in
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        }
        return Tool.Result(status: status, output: try folder.read("output"), errors: try folder.read("errors"))
    }
}

/// A mock push service in a process of its own.
final class MockProcess: Sendable {
    let folder: TemporaryFolder
    let port: Int
    /// Where channels are managed; nil where they are not.
    let managementPort: Int?
    private let tool: RunningTool

    /// - Parameter kind: `http2`, `binary` or `feedback`.
    convenience init(
        _ flags: String..., kind: String = "http2", host: String = "127.0.0.1", in folder: TemporaryFolder
    ) async throws {
        try await self.init(flags, kind: kind, host: host, in: folder)
    }

    init(
        _ flags: [String], kind: String = "http2", host: String = "127.0.0.1", in folder: TemporaryFolder
    ) async throws {
        self.folder = folder
        let ledger = kind == "feedback" ? [] : ["--ledger", folder("ledger")]
        let tool = try Tool.start(
            ["mock", kind, "--listen", "\(host):0", "--certificate-directory", folder("certs")] + ledger + flags)
        let isReady = try await waitUntil { try tool.output.hasPrefix("listening on \(host):") || !tool.isRunning }
        let line = try tool.output
        try #require(isReady && line.hasSuffix("\n"), "the mock said \(line)")
        // Printed in one piece.
        let ports = line.split(separator: "\n").map { Int($0.split(separator: ":").last ?? "") }
        port = try #require(ports.first ?? nil)
        managementPort = ports.count > 1 ? ports[1] : nil
        self.tool = tool
    }

    var endpoint: String { "https://127.0.0.1:\(port)" }
    var trust: String { folder("certs/ca.pem") }

    /// How many notifications it has taken so far.
    func taken() throws -> Int { try folder.read("ledger").utf8.count { $0 == UInt8(ascii: "\n") } }

    func stop() async throws -> Tool.Result {
        tool.kill(SIGTERM)
        return try await tool.result()
    }
}
