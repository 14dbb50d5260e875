internal import Holdfast

extension HealthCondition {
    /// The same, told by the host that has taken the journal over, beside what concerns its own.
    ///
    /// It has no route: what is known of the host's routes is known of its own journal.
    func ofTakenOver(_ name: String) -> Self {
        var copy = self
        copy.journal = name
        copy.subject = subject.isEmpty ? name : "\(name)/\(subject)"
        copy.route = nil
        copy.what = "journal \(name), which was taken over: \(what)"
        copy.command = command.map { Self.command($0, on: name) }
        return copy
    }

    /// Commands that look at one journal look at the host's own, unless they are told.
    private static func command(_ command: String, on journal: String) -> String {
        let isOfJournal = ["journal", "lanes", "rejections", "routes"].contains { command.hasPrefix("holdfast \($0) ") }
        guard isOfJournal, !command.contains(" --fleet"), !command.contains(" --journal "), !command.contains(" key ")
        else { return command }
        return "\(command) --journal-name \(ShellText.word(journal))"
    }
}
