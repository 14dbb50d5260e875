/// Notices that the history has outcomes that can't be read: when some are met, and when there are more.
final class HistoryDamage: Sendable {
    private let told = Monitor(0)
    private let conditions: EngineConditions

    init(_ conditions: EngineConditions) { self.conditions = conditions }

    /// Call it after a reading of the history.
    func look(_ journal: any JournalService) {
        let count = journal.outcomeLog.unreadable
        guard count > 0 else { return }
        let isMore = told.withLock { told in
            defer { told = max(told, count) }
            return count > told
        }
        if isMore { conditions.lookSoon() }
    }
}
