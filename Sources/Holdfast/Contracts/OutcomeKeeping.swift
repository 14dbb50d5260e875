/// Whether the journal's application wants outcomes: noted in the journal, so that what an operator ends at rest has one.
enum OutcomeKeeping {
    private static let noteName = "engine/keeps-outcomes"

    static func isOn(in journal: any Journal) throws(JournalError) -> Bool { try journal.note(noteName) != nil }

    /// Durable on return; writes nothing when it is noted so already.
    static func note(_ isOn: Bool, in journal: any Journal) throws(JournalError) {
        guard try Self.isOn(in: journal) != isOn else { return }
        try journal.setNote(noteName, to: isOn ? [] : nil)
    }
}
