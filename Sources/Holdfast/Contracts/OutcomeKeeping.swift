/// A note in the journal that outcomes are written to its log, so that entries that an operator ends at rest have one too.
package enum OutcomeKeeping {
    /// The note's name in the journal. It is there while outcomes are written.
    package static let noteName = "engine/keeps-outcomes"

    package static func isOn(in journal: any JournalService) throws(JournalError) -> Bool {
        try journal.note(noteName) != nil
    }

    /// Opens the reader of the engine's own outcomes, or forgets it.
    static func openReader(ifAny isWanted: Bool, in journal: any JournalService) throws(JournalError) {
        if isWanted {
            _ = try journal.openReader(OutcomeReader.engineName, isWaitedFor: true)
        } else if journal.outcomeReaders.contains(where: { $0.name == OutcomeReader.engineName }) {
            // Not waited for any more at once, even if forgetting it comes too late for this process.
            _ = try journal.openReader(OutcomeReader.engineName, isWaitedFor: false)
            journal.setReader(OutcomeReader.engineName, to: nil) { _ in }
        }
    }

    /// Stores the note, durably on return. Writes nothing if it is stored already.
    static func note(_ isOn: Bool, in journal: any JournalService) throws(JournalError) {
        guard try Self.isOn(in: journal) != isOn else { return }
        try journal.setNote(noteName, to: isOn ? [] : nil)
    }
}

extension JournalError {
    /// Somebody asks for outcomes, and none are kept.
    package static let historyIsOff = JournalError(
        .notFound,
        "no outcomes are kept, so none can be told: journal.history is off (EngineConfiguration.history in a program)")
}
