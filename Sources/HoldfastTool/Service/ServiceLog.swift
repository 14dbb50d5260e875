internal import Foundation
internal import Holdfast
internal import HoldfastService
internal import Logging

/// The log of a service: lines on standard error, or entries of systemd's journal, with a level that can be changed while it runs.
///
/// As text, where systemd's journal takes standard error, each line begins with its priority, and the journal has the time;
/// elsewhere each begins with the time.
final class ServiceLog: Sendable {
    /// The socket of systemd's journal.
    static let journalSocket = "/run/systemd/journal/socket"

    private let console: Console
    private let level: Monitor<Logger.Level>
    private let isForJournal: Bool
    private let format: Monitor<LogFormat>
    private let journal: NotifyAddress?
    /// Whether it was said that the journal takes nothing.
    private let hasFailed = Monitor(false)

    /// - Parameter journal: where entries for systemd's journal go.
    init(
        _ console: Console = .standard, level: Logger.Level, format: LogFormat? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment, journal: String = ServiceLog.journalSocket
    ) {
        self.console = console
        self.level = Monitor(level)
        self.format = Monitor(format ?? .text)
        self.journal = NotifyAddress(journal)
        isForJournal = environment["JOURNAL_STREAM"]?.isEmpty == false && !console.isInteractive
        Self.prepare(console, for: format)
    }

    /// Has errors and warnings that do not come from a logger, such as the one that ends a start, written as the log is.
    static func prepare(_ console: Console, for format: LogFormat?) {
        guard format == .json else {
            console.trouble = nil
            return
        }
        console.trouble = { level, message in
            LogLineText(level: level, message: message, label: "holdfast", metadata: [:]).json(
                at: EngineClock.system.wall())
        }
    }

    /// The least that is said; that of all loggers, those that were made before as well.
    var leastLevel: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }

    /// How lines are written from now on.
    func change(to format: LogFormat?) {
        self.format.withLock { $0 = format ?? .text }
        Self.prepare(console, for: format)
    }

    func logger(_ label: String = "holdfast") -> Logger { Logger(label: label) { Handler(log: self, label: $0) } }

    fileprivate func write(_ line: LogLineText) {
        switch format.withLock({ $0 }) {
        case .text: console.note(line.text(at: isForJournal ? nil : EngineClock.system.wall()))
        case .json: console.note(line.json(at: EngineClock.system.wall()))
        case .journald: if !sends(line) { console.note(line.text(at: isForJournal ? nil : EngineClock.system.wall())) }
        }
    }

    /// Sends an entry to systemd's journal.
    ///
    /// - Returns: false where it takes none, or not one of this size; then the line goes to standard error.
    private func sends(_ line: LogLineText) -> Bool {
        do {
            guard let journal else { return false }
            try journal.send(line.entry)
            return true
        } catch {
            let isFirst = hasFailed.withLock { failed in
                defer { failed = true }
                return !failed
            }
            if isFirst {
                let words =
                    "systemd's journal takes no entries (\(Self.journalSocket): \(error)): lines go to standard error"
                console.note(
                    LogLineText(level: .warning, message: words, label: "holdfast", metadata: [:]).text(
                        at: isForJournal ? nil : EngineClock.system.wall()))
            }
            return false
        }
    }

    private struct Handler: LogHandler {
        let log: ServiceLog
        let label: String
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
            var message = "\(event.message)"
            if case .string(let journal)? = metadata["journal"] { message = "journal \(journal): \(message)" }
            log.write(
                LogLineText(
                    level: event.level, message: message, label: label,
                    metadata: metadata.merging(event.metadata ?? [:]) { _, new in new }))
        }
    }
}
