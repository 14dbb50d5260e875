import Foundation

/// Programs that we did not write, found on PATH.
enum Foreign {
    /// With HOLDFAST_REQUIRE_FOREIGN=1 a missing program fails its tests; otherwise they are skipped, visibly.
    static let areAllRequired = ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1"

    static func shouldTest(_ program: String) -> Bool { areAllRequired || path(of: program) != nil }

    /// - Parameter package: the Debian package that has it.
    static func find(_ program: String, package: String) throws -> String {
        guard let path = path(of: program) else { throw Missing(program: program, package: package) }
        return path
    }

    static func path(of program: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        // Servers live in sbin, which is not on everyone's PATH.
        let folders = path.split(separator: ":").map(String.init) + ["/usr/local/sbin", "/usr/sbin"]
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    struct Missing: Error, CustomStringConvertible {
        var program: String
        var package: String
        var description: String { "\(program) is not on PATH: install the Debian package \(package)" }
    }
}

struct TookTooLong: Error, CustomStringConvertible { var description: String }

/// Looks at a condition until it holds.
func wait<Result>(_ what: String, limit: Duration = .seconds(20), _ condition: () async throws -> Result?) async throws
    -> Result
{
    let deadline = ContinuousClock.now + limit
    while true {
        if let result = try await condition() { return result }
        guard ContinuousClock.now < deadline else { throw TookTooLong(description: "\(what): not within \(limit)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// A folder of its own, removed with the value's end by ``remove()``.
struct TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func file(_ name: String, _ contents: Data) throws -> URL {
        let file = url.appendingPathComponent(name)
        try contents.write(to: file, options: .atomic)
        return file
    }

    func remove() {
        do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(url.path): \(error)") }
    }
}

/// A child process, its output in a file.
struct Child {
    private let process: Process
    private let outputFile: URL

    init(
        _ program: String, _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:]
    ) throws {
        outputFile = try folder.file("output-\(UUID().uuidString)", Data())
        let output = try FileHandle(forWritingTo: outputFile)
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// What it has written so far, standard output and error together.
    func output() throws -> String { String(decoding: try Data(contentsOf: outputFile), as: UTF8.self) }

    /// Waits for its end, with a limit.
    func finish(limit: Duration = .seconds(60)) async throws -> (status: Int32, output: String) {
        do {
            try await wait("the end of process \(process.processIdentifier)", limit: limit) {
                process.isRunning ? nil : ()
            }
        } catch {
            end()
            throw TookTooLong(description: "\(error), it wrote: \(try output())")
        }
        return (process.terminationStatus, try output())
    }

    /// Ends it, if it has not ended by itself.
    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
