package import Holdfast

/// Something that is wrong, or that an operator holds up: see Docs/Reference/Conditions.md.
package struct ConditionForm: Codable, Hashable, Sendable {
    package var kind: String
    package var about: String
    /// Absent where there is only one.
    package var subject: String?
    /// Absent where it concerns no route, or several.
    package var route: String?
    /// The name of a journal that was taken over from a lost host; absent where it concerns the process, or its own journal.
    package var journal: String?
    /// `notice`, `warning` or `fault`.
    package var severity: String
    package var since: ExactTime
    /// Notifications that wait because of it, or refusals of notifications; absent where they are not counted.
    package var affected: Int?
    /// Tries that have failed since; absent for none.
    package var failures: Int?
    /// When it is tried next, by itself; absent where that is not known, and while it is being tried.
    package var nextTry: ExactTime?
    package var what: String
    package var next: String
    /// A command that helps; absent where there is none.
    package var command: String?

    package init(_ condition: HealthCondition) {
        (kind, about) = (condition.kind.rawValue, condition.about)
        subject = condition.subject.isEmpty ? nil : condition.subject
        (route, journal) = (condition.route, condition.journal)
        severity = condition.severity.rawValue
        since = ExactTime(condition.since)
        affected = condition.affected > 0 ? condition.affected : nil
        failures = condition.failures > 0 ? condition.failures : nil
        nextTry = condition.nextTryAt.map(ExactTime.init)
        (what, next, command) = (condition.what, condition.next, condition.command)
    }

    package var value: HealthCondition {
        var condition = HealthCondition(
            .init(rawValue: kind), .init(rawValue: severity) ?? .warning, about, subject ?? "", route: route,
            since: since.value, affected: affected ?? 0, failures: failures ?? 0, nextTryAt: nextTry?.value, what: what,
            next: next, command: command)
        condition.journal = journal
        return condition
    }
}
