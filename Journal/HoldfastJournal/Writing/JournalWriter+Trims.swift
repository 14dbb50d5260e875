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
    }

    /// Outcomes that nobody is waited for to read give way on a full disk, the oldest first: a part of them each time that
    /// something was refused.
    private func giveLogWay() {
        guard isLogInTheWay else { return }
        isLogInTheWay = false
        let bytes = shared.withLock { shared in shared.figures.logPages } * space.pageByteCount
        let lastRead = state.readers.lazy.filter(\.isWaitedFor).map(\.cursor.rawValue).min() ?? .max
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
