import Logging

@testable import Holdfast

/// A log that a test reads.
final class RecordingLog: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]

        var event: String { metadata["event"] ?? "" }
    }

    private struct Handler: LogHandler {
        let lines: Monitor<[Line]>
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            lines.withLock { $0.append(Line(level: event.level, message: "\(event.message)", metadata: all.text)) }
        }
    }

    private let all = Monitor<[Line]>([])

    func logger(_ level: Logger.Level = .trace) -> Logger {
        Logger(label: "test") { _ in Handler(lines: all, logLevel: level) }
    }

    var lines: [Line] { all.withLock { $0 } }
    func lines(_ line: LogLine) -> [Line] { lines.filter { $0.event == line.rawValue } }
}

extension Logger.Metadata {
    /// As a log handler prints it; what is inside a dictionary as `key/inner`.
    var text: [String: String] {
        var text: [String: String] = [:]
        for (key, value) in self {
            guard case .dictionary(let inner) = value else {
                text[key] = "\(value)"
                continue
            }
            for (name, value) in inner.text { text["\(key)/\(name)"] = value }
        }
        return text
    }
}
