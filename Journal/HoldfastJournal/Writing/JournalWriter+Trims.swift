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
    }

    /// A request may say how large the log is to be. A little more is taken at a time, so that not every commit trims.
    func noteLogBound(of pending: Pending, bytes: Int) {
        guard case .settle(let batch, _) = pending.request, let greatest = batch.greatestOutcomeBytes,
            bytes > greatest + greatest / 32
        else { return }
        logBound = greatest
    }

    /// The oldest outcomes go as soon as the log has grown beyond its bound, and not only when somebody trims.
    private func boundLog() {
        guard let bytes = logBound else { return }
        logBound = nil
        guard failure == nil, trims.isEmpty, state.log.deleted < min(state.log.newest, lastRead) else { return }
        trims.append(TrimWork(TrimBounds(greatestOutcomeBytes: bytes)) { _ in })
    }

    /// The last outcome that nobody is waited for to read.
    private var lastRead: UInt64 {
        state.readers.lazy.filter(\.isWaitedFor).map(\.cursor.rawValue).min() ?? .max
    }

    /// Outcomes that nobody is waited for to read give way on a full disk, the oldest first: a part of them each time that
    /// something was refused.
    private func giveLogWay() {
        guard isLogInTheWay else { return }
        isLogInTheWay = false
        let bytes = shared.withLock { shared in shared.figures.logPages } * space.pageByteCount
        guard failure == nil, trims.isEmpty, bytes > 0, state.log.deleted < min(state.log.newest, lastRead) else {
            return
        }
        trims.append(TrimWork(.makingRoom(bytes)) { _ in })
    }

    /// A journal that is full keeps nothing aside.
    private func giveAsideWay() {
        guard space.isTight || isAsideInTheWay else { return }
        isAsideInTheWay = false
        guard failure == nil, trims.isEmpty, shared.withLock({ shared in shared.figures.aside }) > 0 else { return }
        trims.append(TrimWork(TrimBounds(greatestAside: 0)) { _ in })
    }
}
