import Foundation
import Scratch
import Testing

@testable import HoldfastTool

@Suite("The line of a log in JSON that says why serve has ended") struct LogOfTheEndTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ more: String = "", port: Int = 0) throws {
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal}
            routes: [{name: a, endpoint: "http://127.0.0.1:1", topics: [com.example.app]}]
            gateway: {http2: {listen: "127.0.0.1:\(port)"}}
            \(more)
            """)
    }

    /// The lines of standard error, each an object.
    private func lines(_ arguments: String...) async throws -> (status: Int32, lines: [[String: Any]]) {
        let result = try await Tool.start(["serve"] + arguments).result()
        let lines = try result.errors.split(separator: "\n").map { line in
            try #require(
                try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(result.errors)")
        }
        return (result.status, lines)
    }

    @Test("Mistakes of the configuration are one object, by the flag or by log.format")
    func mistakes() async throws {
        try write("journl: 1\nlimits: {window: many}")
        let flagged = try await lines("--config", folder("holdfast.yaml"), "--log-format", "json")
        try write("journl: 1\nlimits: {window: many}\nlog: {format: json}")
        let configured = try await lines("--config", folder("holdfast.yaml"))
        for (status, lines) in [flagged, configured] {
            #expect(status == 78 && lines.count == 1, "\(lines)")
            let message = lines.first?["message"] as? String ?? ""
            #expect(message.contains("mistakes: · ") && message.contains("journl") && message.contains("window"))
            #expect(lines.first?["level"] as? String == "error" && lines.first?["time"] is String)
        }
        // The flag goes before the configuration.
        let text = try await Tool.run("serve", "--config", folder("holdfast.yaml"), "--log-format", "text")
        #expect(text.errors.hasPrefix("error: "), "\(text.errors)")
        let check = try await Tool.run("serve", "--check", "--config", folder("holdfast.yaml"))
        #expect(check.errors.hasPrefix("error: "), "\(check.errors)")
    }

    @Test("So is a file that is not there, and whatever ends a service that has begun")
    func others() async throws {
        let missing = try await lines("--config", folder("none.yaml"), "--log-format", "json")
        #expect(missing.status != 0 && missing.lines.last?["level"] as? String == "error", "\(missing)")
        let server = try await NoTLSServer("")
        try write("log: {format: json}", port: server.port)
        let taken = try await lines("--config", folder("holdfast.yaml"))
        #expect(taken.status == 69, "\(taken)")
        #expect((taken.lines.last?["message"] as? String)?.contains("\(server.port)") == true, "\(taken)")
        try await server.close()
    }
}
