import BuiltProgram
import Foundation
import Scratch
import Testing

/// `trace_collector.py`: a collector of OpenTelemetry's, as far as it takes spans, in a process of its own.
final class TraceCollector {
    struct Span: Decodable {
        struct Attribute: Decodable {
            struct Value: Decodable {
                var stringValue: String?
                var intValue: String?
            }

            var key: String
            var value: Value
        }

        struct Link: Decodable {
            var traceId: String
            var spanId: String
        }

        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var traceState: String?
        var name: String
        var kind: Int
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [Attribute]
        var links: [Link]?

        subscript(name: String) -> String? {
            attributes.first { $0.key == name }.flatMap { $0.value.stringValue ?? $0.value.intValue }
        }
    }

    private struct Line: Decodable {
        struct Body: Decodable {
            struct Resource: Decodable {
                struct Scope: Decodable { var spans: [Span] }
                var scopeSpans: [Scope]
            }
            var resourceSpans: [Resource]
        }
        var path: String
        var body: Body
    }

    private let folder: TemporaryFolder
    private let process = Process()
    let port: Int

    init(in folder: TemporaryFolder, mode: String = "ok") async throws {
        self.folder = folder
        try folder.write("mode", mode)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", BuiltProgram.root.appendingPathComponent("Tests/ForeignServers/trace_collector.py").path,
            "--log", folder("spans"), "--mode", folder("mode"),
        ]
        let printed = folder("printed")
        try Data().write(to: URL(fileURLWithPath: printed))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: printed))
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var words: [Substring] = []
        let isListening = try await waitUntil {
            words = try String(contentsOfFile: printed, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            return words.count == 2
        }
        try #require(isListening, "the collector does not listen")
        port = try #require(Int(words[1]))
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    func behave(_ mode: String) throws { try folder.write("mode", mode) }

    /// All that it has taken, in its order.
    var spans: [Span] {
        get throws {
            guard FileManager.default.fileExists(atPath: folder("spans")) else { return [] }
            // The last line may be only half written yet.
            let whole = try folder.read("spans").split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return try whole.filter { !$0.isEmpty }.flatMap { text in
                let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
                try #require(line.path == "/v1/traces")
                return line.body.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans)
            }
        }
    }

    func span(_ name: String) throws -> Span? { try spans.first { $0.name.hasPrefix(name) } }
}
