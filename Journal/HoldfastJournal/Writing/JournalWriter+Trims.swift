import Holdfast

/// Trims, which are done piece by piece behind everything else.
extension JournalWriter {
    /// A trim takes what the others leave of the bound on a commit, and always a little.
    static func trimBudget(_ budget: Int, remaining: Int) -> Int { max(remaining, budget / 10, 1) }

    func advanceTrim(_ work: TrimWork?) {
        guard let work else { return }
        trims[0] = work
        guard work.step == .done else { return }
        trims.removeFirst()
        work.completion(.success(work.trimmed))
    }

    func failTrims(_ error: JournalError) {
        let failed = trims
        trims = []
        for work in failed { work.completion(.failure(error)) }
    }

    /// Deletes records that may be needed, to make room for those that must be kept.
    func giveWay() {
        giveAsideWay()
        giveLogWay()
        boundLog()
        giveIdentitiesWay()
    }

    /// The bytes that the log may have behind a commit: what the last of its settlements says, or an earlier one said.
    ///
    /// - Parameter count: the number of waiting requests that the commit holds.
    func logLimit(behind count: Int) -> Int? {
        lastSettlement(of: count).map { batch in batch.greatestOutcomeBytes } ?? logLimit
    }

    private func lastSettlement(of count: Int) -> SettlementBatch? {
        for pending in backlog.prefix(count).reversed() {
            if case .settle(let batch, _) = pending.request { return batch }
        }
        return nil
    }

    /// Notes what a settlement has said of the log's limit, and whether the log is larger.
    ///
    /// - Parameters:
    ///   - count: the number of waiting requests that the commit held.
    ///   - bytes: of the log behind it.
    func noteLogLimit(behind count: Int, bytes: Int) {
        guard let batch = lastSettlement(of: count) else { return }
        logLimit = batch.greatestOutcomeBytes
        isLogTooLarge = logLimit.map { limit in bytes > limit } ?? false
    }

    /// A commit lets go what it adds beyond the limit. What is beyond it for another reason, as a lower limit, a reader that
    /// was waited for, or a commit that has added more than the limit, goes in the commits after it.
    private func boundLog() {
        guard isLogTooLarge, let bytes = logLimit else { return }
        isLogTooLarge = false
        guard failure == nil, trims.isEmpty, state.log.deleted < min(state.log.newest, lastRead) else { return }
        trims.append(TrimWork(TrimBounds(greatestOutcomeBytes: bytes)) { _ in })
    }

    /// The last outcome that nobody is waited for to read.
    private var lastRead: UInt64 {
        state.readers.lazy.filter(\.isWaitedFor).map(\.cursor.rawValue).min() ?? .max
    }

    /// Outcomes that nobody is waited for to read, and that are not held, give way on a full disk, the oldest first: a part of
    /// them each time that something was refused.
    private func giveLogWay() {
        guard isLogInTheWay else { return }
        isLogInTheWay = false
        let (pages, held) = shared.withLock { shared in (shared.figures.logPages, shared.held) }
        let bytes = pages * space.pageByteCount
        let last = min(lastRead, held?.rawValue ?? .max)
        guard failure == nil, trims.isEmpty, bytes > 0, state.log.deleted < min(state.log.newest, last) else { return }
        trims.append(TrimWork(.makingRoom(bytes), through: last) { _ in })
    }

    /// Remembered identities beyond their part of the limit go, the oldest first. A commit lets go as many as it adds; here go
    /// those of a submission with more than that, of a journal with a lower limit now, and of one that an earlier Holdfast filled.
    private func giveIdentitiesWay() {
        guard mayRememberTooMuch, trims.isEmpty else { return }
        mayRememberTooMuch = false
        let (count, pages) = shared.withLock { shared in (shared.figures.identities, shared.figures.identityPages) }
        guard failure == nil, let greatest = space.greatestIdentities(of: count, on: pages) else { return }
        trims.append(TrimWork(TrimBounds(greatestIdentities: greatest)) { _ in })
    }

    /// A journal that is full keeps nothing aside.
    private func giveAsideWay() {
        guard space.isTight || isAsideInTheWay else { return }
        isAsideInTheWay = false
        guard failure == nil, trims.isEmpty, shared.withLock({ shared in shared.figures.aside }) > 0 else { return }
        trims.append(TrimWork(TrimBounds(greatestAside: 0)) { _ in })
    }
}
