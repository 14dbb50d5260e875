internal import Holdfast
internal import HoldfastService

/// What is wrong, the worst first.
enum TopTroubles {
    /// - Parameters:
    ///   - silence: why the owner has not answered lately.
    ///   - now: the time; that of the last answer where nobody has answered since, as nobody knows what lasts.
    ///   - safe: makes a text safe to be shown.
    static func list(_ status: DeskStatus, silence: String?, now: WallTime, safe: (String) -> String) -> [TopLine] {
        let isOld = silence != nil
        let silent = silence.map { [TopLine("! no answer \(safe($0))", .red)] } ?? []
        return silent
            + (status.conditions ?? []).map { condition in
                let since = Format.span(now.since(condition.since))
                let count = condition.affected
                let affected =
                    count == 0
                    ? ""
                    : condition.kind.countsRefusals
                        ? ", \(Format.plural(count, "refusal"))" : ", \(Format.count(count)) concerned"
                let command = condition.command.map { ": `\($0)`" } ?? ""
                let trial = Format.nextTry(condition.nextTryAt, now: now)
                let words =
                    isOld
                    ? "before that: \(condition.what) (\(since)\(affected))"
                    : "\(condition.what) (\(since)\(affected)\(trial)). Next: \(condition.next)\(command)"
                return TopLine(
                    safe("\(sign(condition.severity)) \(words)"), isOld ? .faint : style(condition.severity))
            }
    }

    private static func sign(_ severity: HealthCondition.Severity) -> String { severity == .notice ? "-" : "!" }

    private static func style(_ severity: HealthCondition.Severity) -> TopStyle {
        switch severity {
        case .fault: .red
        case .warning: .yellow
        case .notice: .plain
        }
    }
}
