/// A note in the journal that outcomes are written to its log, so that entries that an operator ends at rest have one too.
package enum OutcomeKeeping {
    /// The note's name in the journal. It is there while outcomes are written.
    package static let noteName = "engine/keeps-outcomes"
    /// The name of the note of ``Standing/gaps``: the version, 1, and eight bytes for each, little-endian.
    package static let gapsName = "engine/outcome-gaps"
    /// The most gaps that are noted: the oldest are forgotten.
    static let greatestGaps = 32
    private static let version: UInt8 = 1

    /// Whether outcomes are written, and where some are missing because they were not.
    package struct Standing: Hashable, Sendable {
        package var isKept: Bool
        /// Behind each of these outcomes some are missing, nobody knows how many: those that ended while none were written.
        package var gaps: [OutcomeCursor]

        package init(isKept: Bool = true, gaps: [OutcomeCursor] = []) { (self.isKept, self.gaps) = (isKept, gaps) }

        /// - Parameter note: reads a note of the journal.
        package init(_ note: (String) throws(JournalError) -> [UInt8]?) throws(JournalError) {
            isKept = try note(noteName) != nil
            let bytes = try note(gapsName) ?? []
            let isKnown = bytes.first == version && bytes.count % 8 == 1
            gaps = stride(from: 1, to: isKnown ? bytes.count : 0, by: 8).map { start in
                OutcomeCursor(bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
            }
        }
    }

    package static func standing(in journal: any JournalService) throws(JournalError) -> Standing {
        try Standing { (name) throws(JournalError) in try journal.note(name) }
    }

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
        if isOn { try noteGap(in: journal) }
        try journal.setNote(noteName, to: isOn ? [] : nil)
    }

    /// Notes that outcomes behind the newest are missing. Before they are written again: a crash in between leaves them off.
    private static func noteGap(in journal: any JournalService) throws(JournalError) {
        // In a new journal nothing has ended.
        guard try journal.status().nextUID > journal.firstUID else { return }
        let (newest, known) = (journal.outcomeLog.newest, try standing(in: journal).gaps)
        guard known.last != newest else { return }
        let gaps = (known + [newest]).suffix(greatestGaps)
        let bytes = gaps.flatMap { gap in (0..<8).map { UInt8(truncatingIfNeeded: gap.rawValue >> (8 * $0)) } }
        try journal.setNote(gapsName, to: [version] + bytes)
    }
}

extension JournalError {
    /// Somebody asks for outcomes, and none are kept.
    package static let historyIsOff = JournalError(
        .notFound,
        "no outcomes are kept, so none can be told: journal.history is off (EngineConfiguration.history in a program)")
}
