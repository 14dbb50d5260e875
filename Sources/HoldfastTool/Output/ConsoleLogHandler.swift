internal import HoldfastService
internal import Logging

/// Log messages as lines on standard error, in the same hand as the tool's own.
struct ConsoleLogHandler: LogHandler {
    let console: Console
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    /// - Parameter isVerbose: whether what goes well is worth a line too.
    static func logger(_ console: Console, isVerbose: Bool) -> Logger {
        logger(console, level: isVerbose ? .info : .error)
    }

    static func logger(_ console: Console, level: Logger.Level) -> Logger {
        Logger(label: "holdfast") { _ in ConsoleLogHandler(console: console, logLevel: level) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard logLevel <= .info || !isToldByTheRun(event) else { return }
        console.note("\(event.level): \(event.message)".withoutControls)
    }

    /// The events that the run prints itself, as the error that ends it.
    private func isToldByTheRun(_ event: LogEvent) -> Bool {
        guard case .string("connection-misconfigured")? = event.metadata?["event"] else { return false }
        return true
    }
}
