internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// Whether all is well with a journal and the process that uses it, in at most ten lines. The names of its properties are those of
/// the JSON.
struct HealthReport: Encodable, Equatable {
    /// Whether a process uses the journal, and says how it does.
    enum State: String, Encodable {
        case running
        /// A process uses the journal, and says nothing.
        case silent
        /// No process uses it.
        case atRest
        /// There is no journal yet.
        case none
    }

    /// The most lines of a text.
    static let greatestLineCount = 10

    var healthy: Bool
    var state: State
    var journal: String
    /// The process that uses it; nil for none.
    var owner: String?
    /// Why a process that uses it says nothing; nil where it does.
    var silence: String?
    /// The next step about that silence; nil where ``silence`` says it, and where there is none.
    var next: String?
    /// Why nothing can be said of what is in it: its key is not here. Nil where something is.
    var unread: String?
    /// That one of its two files alone is sealed, so that no process opens it, and the next step; nil for all others.
    var halfSealed: String?
    /// A service that runs with the configuration's addresses and another journal; nil where none is found.
    var elsewhere: ServiceElsewhere?
    /// `nil` where nobody says.
    var unconfirmed: Int?
    /// Of ``unconfirmed``: those that wait for a time of their own, a topic or a tag, the scheduled ones included.
    var deferred: Int?
    /// When the first of all others was accepted.
    var oldestAcceptedAt: ExactTime?
    /// Journals of lost hosts that the process delivers beside its own; nil for none.
    var takenOver: [TakenOverForm]?
    var conditions: [ConditionForm]

    init(_ state: State, journal: String, owner: String? = nil, conditions: [HealthCondition] = []) {
        (self.state, self.journal, self.owner) = (state, journal, owner)
        self.conditions = conditions.sorted(by: HealthCondition.isBefore).map { ConditionForm($0) }
        healthy = state == .running && conditions.areHealthy
    }

    /// What holds notifications up, or will; without what operators do on purpose.
    private var wrong: [ConditionForm] { conditions.filter { $0.severity != "notice" } }

    var status: ToolStatus {
        switch state {
        case .running: healthy ? .ok : .notAllConfirmed
        case .silent: .notAllConfirmed
        case .atRest, .none: .notRunning
        }
    }

    // MARK: For people

    /// - Parameter now: for how long something has lasted.
    func text(now: WallTime, color: (String, Console.Color) -> String = { text, _ in text }) -> String {
        var lines = [
            color(headline, healthy ? .green : .red), next.map { "  next: \($0.printable(maximumLength: 640))" },
            unread.map { "what waits can't be read: \($0)" },
            halfSealed.map { color("its sealing is half done: \($0)", .red) }, queue(now), start,
        ].compactMap(\.self)
        let notices = conditions.filter { $0.severity == "notice" }
        let last = [Self.paused(notices.filter(\.isPause), now), Self.noticed(notices.filter { !$0.isPause }, now)]
            .compactMap(\.self)
        // Two lines each, and one for those that are left out.
        let room = Self.greatestLineCount - lines.count - last.count
        let shown = wrong.count * 2 <= room ? wrong.count : (room - 1) / 2
        for condition in wrong.prefix(shown) { lines += Self.lines(condition, now, color) }
        if shown < wrong.count {
            let more = Format.plural(wrong.count - shown, "more")
            lines.append("  and \(more.replacing("mores", with: "more")): `holdfast status --json` has all")
        }
        lines += last
        return lines.joined(separator: "\n")
    }

    private var headline: String {
        let journal = journal.printable(maximumLength: 256)
        switch state {
        case .running where healthy: return "healthy: \(journal) is in use by \(owner ?? "a process")"
        case .running:
            let faults = wrong.count { $0.severity == "fault" }
            let words = [
                faults > 0 ? Format.plural(faults, "fault") : nil,
                wrong.count > faults ? Format.plural(wrong.count - faults, "warning") : nil,
            ].compactMap(\.self).joined(separator: " and ")
            return "not healthy, \(words): \(journal) is in use by \(owner ?? "a process")"
        case .silent:
            return "not known: \(journal) is in use by \(owner ?? "a process"), and \(silence ?? "it says nothing")"
        case .atRest: return "\(nothing): \(journal) is at rest"
        case .none: return "\(nothing): there is no journal at \(journal) yet"
        }
    }

    private var nothing: String { elsewhere == nil ? "nothing runs" : "nothing runs with this journal" }

    /// How to have it delivered, where nobody does.
    private var start: String? {
        if let elsewhere {
            return "\(elsewhere.words.printable(maximumLength: 400))\n  next: \(elsewhere.next.withoutControls)"
        }
        // A service that starts with a journal sealed by half ends: what comes first is said there.
        guard state == .atRest, halfSealed == nil, let unconfirmed else { return nil }
        let start = "  next: start the service: systemctl start holdfast"
        guard unconfirmed > 0 else { return start }
        return "\(start); what `holdfast send` has left: holdfast recover --journal \(ShellText.word(journal))"
    }

    private func queue(_ now: WallTime) -> String? {
        guard let own = ownQueue(now) else { return nil }
        let others = (takenOver ?? []).filter { $0.unconfirmed > 0 }
        guard !others.isEmpty else { return own }
        let sum = others.reduce(0) { $0 + $1.unconfirmed }
        let names = others.prefix(5).map(\.journal).joined(separator: ", ") + (others.count > 5 ? ", …" : "")
        return "\(own); and \(Format.plural(sum, "notification")) of journals that were taken over: \(names)"
    }

    private func ownQueue(_ now: WallTime) -> String? {
        guard let unconfirmed else { return nil }
        guard unconfirmed > 0 else { return "nothing waits" }
        let all = "\(Format.plural(unconfirmed, "notification")) \(unconfirmed == 1 ? "waits" : "wait")"
        let deferred = min(deferred ?? 0, unconfirmed)
        guard deferred < unconfirmed else { return "\(all), deferred: `holdfast journal list` says why" }
        let oldest = oldestAcceptedAt.map { ", the oldest accepted \(Format.span(now.since($0.value))) ago" } ?? ""
        guard deferred > 0 else { return all + oldest }
        return
            "\(all): \(Format.count(unconfirmed - deferred)) in their turn\(oldest); \(Format.count(deferred)) deferred"
    }

    private static func lines(
        _ condition: ConditionForm, _ now: WallTime, _ color: (String, Console.Color) -> String
    ) -> [String] {
        let isFault = condition.severity == "fault"
        let command = condition.command.map { ": \($0.withoutControls)" } ?? ""
        return [
            color("\(condition.severity) \(condition.kind)", isFault ? .red : .yellow)
                + " (\(lasted(condition, now))): \(condition.what.printable(maximumLength: 400))",
            "  next: \(condition.next.printable(maximumLength: 640))\(command)\(giveUp(condition))",
        ]
    }

    /// How what waits is given up, where nobody may want it any more: a topic that was mistyped is never right.
    private static func giveUp(_ condition: ConditionForm) -> String {
        guard condition.kind == HealthCondition.Kind.topicSetAside.rawValue, let topic = condition.subject,
            let route = condition.route
        else { return "" }
        let filter = "--topic \(ShellText.word(topic)) --lane \(ShellText.word(route))"
        return "; a wrong topic's are taken back by: holdfast journal drop \(filter)"
    }

    /// For how long, how much it concerns, and when it is tried next; nothing of a time that has passed.
    private static func lasted(_ condition: ConditionForm, _ now: WallTime) -> String {
        let isRefusing = HealthCondition.Kind(rawValue: condition.kind).countsRefusals
        let affected =
            condition.affected.map {
                isRefusing ? ", \(Format.plural($0, "refusal"))" : ", \(Format.count($0)) affected"
            } ?? ""
        let trial = Format.nextTry(condition.nextTry?.value, now: now)
        return "for \(Format.span(now.since(condition.since.value)))\(affected)\(trial)"
    }

    /// What operators hold up, in one line.
    private static func paused(_ conditions: [ConditionForm], _ now: WallTime) -> String? {
        guard let only = conditions.first else { return nil }
        if conditions.count == 1 {
            // With the reason that was given, and the way back.
            return notice(only, now)
        }
        let names = conditions.prefix(4).map {
            "\($0.about) \(($0.subject ?? "").printable(maximumLength: 80)) (\(lasted($0, now)))"
        }
        let more = conditions.count > 4 ? " and \(Format.count(conditions.count - 4)) more" : ""
        return "paused by operators: \(names.joined(separator: ", "))\(more)"
    }

    /// What is to be known and holds nothing up, in one line.
    private static func noticed(_ conditions: [ConditionForm], _ now: WallTime) -> String? {
        guard let first = conditions.first else { return nil }
        let more = conditions.count > 1 ? " (and \(Format.count(conditions.count - 1)) more: --json)" : ""
        return notice(first, now) + more
    }

    private static func notice(_ condition: ConditionForm, _ now: WallTime) -> String {
        let command = condition.command.map { ": \($0.withoutControls)" } ?? ""
        return "notice \(condition.kind) (\(lasted(condition, now))): \(condition.what.printable(maximumLength: 300))"
            + command
    }
}

extension ConditionForm {
    /// Whether an operator holds something up.
    fileprivate var isPause: Bool { kind.hasSuffix("-paused") }
}
