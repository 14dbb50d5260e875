/// A note in the journal that its application wants outcomes, so that entries that an operator ends at rest have one too.
enum OutcomeKeeping {
    private static let noteName = "engine/keeps-outcomes"

    static func isOn(in journal: any JournalService) throws(JournalError) -> Bool { try journal.note(noteName) != nil }

    /// Stores the note, durably on return. Writes nothing if it is stored already.
    static func note(_ isOn: Bool, in journal: any JournalService) throws(JournalError) {
        guard try Self.isOn(in: journal) != isOn else { return }
        try journal.setNote(noteName, to: isOn ? [] : nil)
    }
}
