internal import Foundation
internal import Holdfast
internal import HoldfastService
internal import Logging

/// The log of a service: lines on standard error, with a level that can be changed while it runs.
///
/// Where systemd's journal takes them, each begins with its priority, and the journal has the time; elsewhere each begins
/// with the time.
final class ServiceLog: Sendable {
    private let console: Console
    private let level: Monitor<Logger.Level>
    private let isForJournal: Bool

    init(
        _ console: Console = .standard, level: Logger.Level,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.console = console
        self.level = Monitor(level)
        isForJournal = environment["JOURNAL_STREAM"]?.isEmpty == false && !console.isInteractive
    }

    /// The least that is said; that of all loggers, those that were made before as well.
    var leastLevel: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }

    func logger(_ label: String = "holdfast") -> Logger { Logger(label: label) { _ in Handler(log: self) } }

    fileprivate func write(_ level: Logger.Level, _ message: Logger.Message) {
        console.note(Self.line(level, "\(message)", at: isForJournal ? nil : EngineClock.system.wall()))
    }

    /// - Parameter time: nil for systemd's journal.
    static func line(_ level: Logger.Level, _ message: String, at time: WallTime?) -> String {
        // A line of the log is one line, whatever the service on the other side says.
        let text = message.split(whereSeparator: \.isNewline).joined(separator: " · ").withoutControls
        guard let time else { return "<\(level.priority)>\(text)" }
        let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
        return "\(date.formatted(.iso8601)) \(level): \(text)"
    }

    private struct Handler: LogHandler {
        let log: ServiceLog
        var metadata: Logger.Metadata = [:]

        /// Set for one logger alone, it can only say less than the log does.
        var own: Logger.Level = .trace

        var logLevel: Logger.Level {
            get { max(log.leastLevel, own) }
            set { own = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard case .string(let journal)? = metadata["journal"] else { return log.write(event.level, event.message) }
            log.write(event.level, "journal \(journal): \(event.message)")
        }
    }
}

extension Logger.Level {
    /// syslog's, as sd-daemon(3) has it.
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
