/// Something that is wrong, or an operator's action that holds notifications up. ``EngineStatus/conditions`` lists those of an
/// engine; the log, the tool and the control socket have the same values.
public struct HealthCondition: Hashable, Sendable {
    /// The kind of a condition: a word, which is also the anchor of its section in the runbook. More may come.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word, such as `service-away`.
        public let rawValue: String

        /// Creates a kind from its word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word.
        public var description: String { rawValue }
    }

    /// How bad a condition is. This list is complete.
    public enum Severity: String, Hashable, Sendable, Comparable, CaseIterable {
        /// An operator's own doing, or something to know.
        case notice
        /// It ends when its cause does, or becomes a fault if nobody acts.
        case warning
        /// Somebody must act.
        case fault

        /// Whether the first is less bad.
        public static func < (first: Severity, second: Severity) -> Bool {
            // Both are in the list of all cases.
            allCases.firstIndex(of: first)! < allCases.firstIndex(of: second)!
        }
    }

    /// The kind of the condition.
    public var kind: Kind
    /// What the condition is about: `route`, `lane`, `topic`, `tag`, `journal`, `blacklist`, `history`, `clock`, `certificate`,
    /// `webhook`, `listener`, `process` or `database`. More may come.
    public var about: String
    /// The name of the route, the lane, the topic and so on; empty where there is only one.
    public var subject: String
    /// The route that is concerned; `nil` for none, or for several.
    public var route: String?
    /// How bad it is.
    public var severity: Severity
    /// When it began.
    public var since: WallTime
    /// Notifications that wait because of it; of ``Kind/journalFull``, ``Kind/diskRefusing`` and ``Kind/databaseAway`` the
    /// refusals since it began, where a notification that is submitted again and refused again counts again. 0 if nothing is
    /// counted: what waits for a topic counts ``OperatorDesk/status()`` alone, which leaves it out of ``Kind/throttled``.
    public var affected: Int
    /// Tries that have failed since it began: connections, probes, requests, writes.
    public var failures: Int
    /// When it is tried next, by itself; `nil` while that is not known, or while it is being tried.
    public var nextTryAt: WallTime?
    /// What happened, to what, and why.
    public var what: String
    /// The next step of an operator.
    public var next: String
    /// A command that helps; `nil` if there is none.
    public var command: String?
    /// The name of the journal that is concerned, where that is not the process's own: it was taken over from a lost host.
    package var journal: String?
    /// What makes it worth telling again when it changes: another cause, or another stage.
    package var cause: String

    package init(
        _ kind: Kind, _ severity: Severity, _ about: String, _ subject: String = "", route: String? = nil,
        since: WallTime, affected: Int = 0, failures: Int = 0, nextTryAt: WallTime? = nil, cause: String = "",
        what: String, next: String, command: String? = nil
    ) {
        (self.kind, self.about, self.subject, self.route) = (kind, about, subject, route)
        (self.severity, self.since, self.affected, self.failures) = (severity, since, affected, failures)
        self.nextTryAt = nextTryAt
        // Messages of errors are sentences with a full stop.
        let sentence = what.hasSuffix(".") ? String(what.dropLast()) : what
        (self.cause, self.what, self.next, self.command) = (cause, sentence, next, command)
    }

    /// The event, the time of the next try and the next step, in words for operators.
    public var words: String {
        let trial = nextTryAt.map { " (next try at \(Timestamp.format($0)))" } ?? ""
        return "\(what)\(trial). Next: \(next)\(command.map { " (`\($0)`)" } ?? "")"
    }

    /// The order of lists: the worst first, then the oldest.
    package static func isBefore(_ first: HealthCondition, _ second: HealthCondition) -> Bool {
        if first.severity != second.severity { return first.severity > second.severity }
        if first.since != second.since { return first.since < second.since }
        return (first.kind.rawValue, first.subject) < (second.kind.rawValue, second.subject)
    }
}

extension Sequence<HealthCondition> {
    /// Whether none of them is more than a notice.
    package var areHealthy: Bool { allSatisfy { $0.severity == .notice } }
}
