package import Logging

extension Conditions.Change {
    /// The name of its line.
    package var event: String {
        if case .ended = kind { condition.kind.rawValue + "-over" } else { condition.kind.rawValue }
    }

    package var level: Logger.Level {
        if case .ended = kind { return .notice }
        return switch condition.severity {
        case .notice: .notice
        case .warning: .warning
        case .fault: .error
        }
    }

    /// The line, for operators.
    package var message: String {
        switch kind {
        case .began, .changed:
            let times = leftOut == 1 ? "once" : "\(leftOut) times"
            let suffix = leftOut > 0 ? " (and \(times) since it was last said)" : ""
            return condition.words + suffix
        case .ended(let lasted):
            let subject = condition.subject.isEmpty ? "" : " (\(condition.about) \(condition.subject))"
            let words = condition.kind.whenOver ?? "\(condition.kind) is over"
            return (["\(words)\(subject): it lasted \(lasted.words)"] + condition.figures).joined(separator: ", ")
        }
    }

    package var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "event": .string(event), "condition": .string(condition.kind.rawValue),
            "severity": .string(condition.severity.rawValue), "about": .string(condition.about),
        ]
        if !condition.subject.isEmpty { metadata["subject"] = .string(condition.subject) }
        if let route = condition.route { metadata["route"] = .string(route) }
        if condition.affected > 0 { metadata["affected"] = .count(condition.affected) }
        if condition.failures > 0 { metadata["failures"] = .count(condition.failures) }
        if leftOut > 0 { metadata["left-out"] = .count(leftOut) }
        switch kind {
        case .ended(let lasted): metadata["lasted-s"] = .stringConvertible(Double(lasted.wholeMilliseconds) / 1000)
        case .began, .changed: if let command = condition.command { metadata["command"] = .string(command) }
        }
        return metadata
    }
}

extension HealthCondition {
    /// `12345 notifications waited`, `3 connections failed`
    fileprivate var figures: [String] {
        let tries: (one: String, many: String) =
            switch kind {
            case .serviceAway, .descriptorsShort: ("connection", "connections")
            case .webhookFailing: ("request", "requests")
            default: ("try", "tries")
            }
        return [
            affected == 0
                ? nil
                : kind.countsRefusals
                    ? counted(affected, "refusal", "refusals")
                        + " (a notification that is submitted again counts again)"
                    : counted(affected, "notification", "notifications") + " waited",
            failures > 0 ? counted(failures, tries.one, tries.many) + " failed" : nil,
        ].compactMap(\.self)
    }
}

extension Logger {
    /// Writes the line of a condition that holds, in answer to something that was done just now.
    package func tell(_ condition: HealthCondition) {
        tell(Conditions.Change(kind: .began, condition: condition, isTold: true, leftOut: 0))
    }

    /// Tells that a condition of which no machine keeps account is over.
    package func tellEnd(of condition: HealthCondition, at now: WallTime) {
        let lasted = max(now.since(condition.since), .zero)
        tell(Conditions.Change(kind: .ended(lasted: lasted), condition: condition, isTold: true, leftOut: 0))
    }

    /// Writes the line of a change, where it has one.
    package func tell(_ change: Conditions.Change) {
        guard change.isTold else { return }
        log(level: change.level, "\(change.message)", metadata: change.metadata)
    }
}
