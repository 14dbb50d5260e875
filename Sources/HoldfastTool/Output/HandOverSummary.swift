internal import HoldfastControl
internal import HoldfastService

/// The summary of `send` for notifications that it gave to the process that uses the journal. The names of its properties are
/// those of the JSON, and mean the same as in ``DeliverySummary``.
struct HandOverSummary: Encodable, Equatable {
    /// The process that uses the journal.
    var owner: String
    var notifications: [NotificationReport] = []
    /// Whether nothing was to be waited for.
    var queueOnly = false
    var elapsedSeconds = 0.0
    var interrupted = false
    var error: String?
    var exitCode: Int32 = 0

    /// The exit code; `error` is the cause if the waiting ended early.
    func status(error: ToolError?) -> ToolStatus {
        notifications.map { $0.status(isQueueOnly: queueOnly) }.reduce(error?.status ?? .ok, max)
    }

    /// For people.
    func text() -> String {
        let lines = NotificationReport.text(notifications)
        let left = notifications.count { $0.isLeft }
        guard left > 0 else { return lines }
        return lines + "\n  left  \(Format.count(left))  safe in the journal; whoever uses it goes on with them"
    }
}

extension NotificationReport {
    /// Whether it is in the journal, and to be delivered.
    var isLeft: Bool { outcome == .unconfirmed || outcome == .deferred || outcome == .scheduled }

    func status(isQueueOnly: Bool) -> ToolStatus {
        switch outcome {
        // One that is scheduled is with whoever uses the journal, until its time.
        case .confirmed, .scheduled: .ok
        case .unconfirmed, .deferred: isQueueOnly ? .ok : .entriesLeft
        case .quarantined: .unreadable
        case .refused: isRefusedByJournal ? .inputOutput : .badInput
        case .undetermined: .inputOutput
        case .rejected, .expired, .unknown, .withdrawn, .superseded, .settled: .notAllConfirmed
        }
    }
}
