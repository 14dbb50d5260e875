import Foundation
import HoldfastAPNs

/// Tests/ForeignServers/push_service.py, a push service on Python's h2, which shares no code with ours: it serves the faults
/// and counts them itself.
final class H2FaultyService: FaultyService {
    let endpoint: String
    let trustedCertificateFile: String
    /// It does not look at provider tokens.
    let signingKey: APNsSigningKey? = nil

    private let folder: URL
    private let count: Int
    private let process: RunningProcess

    /// A line of its ledger.
    private struct Line: Decodable {
        var token: String?
        var taken: Bool?
        var connection: Int?
        var opened: Bool?
        var fault: String?
        var protocolError: String?
    }

    /// - Parameters:
    ///   - fault: one that the program knows.
    ///   - number: at which request it strikes.
    ///   - times: how often, at most.
    init(fault: String, at number: Int, times: Int, count: Int) async throws {
        guard let python = Self.python else {
            throw Trial.Failed(description: "there is no python3 with h2: install the Debian package python3-h2")
        }
        self.count = count
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-h2-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path
        trustedCertificateFile = path + "/certificate.pem"
        let openssl = try RunningProcess(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2",
                "-keyout", path + "/key.pem", "-out", path + "/certificate.pem", "-subj", "/CN=foreign",
                "-addext", "subjectAltName=IP:127.0.0.1",
            ], output: path + "/openssl.out")
        try await Self.wait("openssl") { openssl.isRunning ? nil : () }
        process = try RunningProcess(
            python,
            [
                Self.program, "--certificate", path + "/certificate.pem", "--key", path + "/key.pem",
                "--port-file", path + "/port", "--ledger", path + "/ledger", "--fault", fault, "--at", "\(number)",
                "--count", "\(times)",
            ], output: path + "/service.out")
        let process = process
        let port = try await Self.wait("the port of push_service.py") { () -> String? in
            guard process.isRunning else {
                throw Trial.Failed(
                    description:
                        "push_service.py ended: \(try String(contentsOfFile: path + "/service.out", encoding: .utf8))")
            }
            guard FileManager.default.fileExists(atPath: path + "/port") else { return nil }
            return try String(contentsOfFile: path + "/port", encoding: .utf8)
        }
        endpoint = "https://127.0.0.1:\(port)"
    }

    func record() throws -> ServiceRecord {
        var record = ServiceRecord(count: count)
        let text = try String(contentsOf: folder.appendingPathComponent("ledger"), encoding: .utf8)
        let decoder = JSONDecoder()
        for line in text.split(separator: "\n") {
            let line = try decoder.decode(Line.self, from: Data(line.utf8))
            // h2 is strict, and what it objects to is our mistake.
            if let error = line.protocolError { throw Trial.Failed(description: "h2 objects: \(error)") }
            if line.opened == true { record.connections += 1 }
            if line.fault != nil { record.faults += 1 }
            if let index = line.token.flatMap({ Sample.index(ofHex: $0) }), let taken = line.taken {
                record.add(index, isTaken: taken, connection: line.connection ?? 0)
            }
        }
        return record
    }

    func stop() throws {
        process.end()
        try FileManager.default.removeItem(at: folder)
    }

    // MARK: What is there

    private static let program = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("ForeignServers/push_service.py").path

    /// A Python that has h2: the system's, or the one on PATH.
    private static let python: String? = {
        let folders =
            ["/usr/bin"] + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return folders.map { $0 + "/python3" }.first { path in
            guard FileManager.default.isExecutableFile(atPath: path) else { return false }
            do {
                let process = try RunningProcess(path, ["-c", "import h2"], output: "/dev/null")
                return process.waitForStatus() == 0
            } catch {
                return false
            }
        }
    }()

    /// Whether its faults are rows of the matrix: where they are missing, nobody must take the rest for all.
    static var isThere: Bool {
        python != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN"] == "1"
    }

    @discardableResult
    private static func wait<Value>(_ what: String, _ look: () throws -> Value?) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            if let value = try look() { return value }
            guard ContinuousClock.now < deadline else { throw Trial.Failed(description: "\(what): not within 30 s") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

/// A process of ours, its output in a file.
final class RunningProcess: Sendable {
    private let process: Process

    init(_ program: String, _ arguments: [String], output: String) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        if output == "/dev/null" {
            process.standardOutput = FileHandle.nullDevice
        } else {
            try Data().write(to: URL(fileURLWithPath: output))
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        }
        process.standardError = process.standardOutput
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    func waitForStatus() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
