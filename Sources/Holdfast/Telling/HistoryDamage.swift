/// Logs that the history has outcomes that can't be read: when some are met, and when there are more.
final class HistoryDamage: Sendable {
    private let told = Monitor(0)
    private let log: EngineLog

    init(_ log: EngineLog) { self.log = log }

    /// Call it after a reading of the history.
    func look(_ journal: any JournalService) {
        let count = journal.outcomeLog.unreadable
        guard count > 0 else { return }
        let isMore = told.withLock { told in
            defer { told = max(told, count) }
            return count > told
        }
        if isMore { log(.historyDamaged, Self.words(count), ["count": .count(count)]) }
    }

    private static func words(_ count: Int) -> String {
        "the history of the journal is damaged: \(count == 1 ? "1 outcome" : "\(count) outcomes") cannot be read, and readers "
            + "are told of a gap. No notification is affected. `holdfast journal verify` says what is damaged; with "
            + "`--salvage NEW` it copies what is sound into a new journal"
    }
}
