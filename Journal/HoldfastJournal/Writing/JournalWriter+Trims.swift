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

    /// Entries that may be needed give way to those that must be kept: a journal that is full keeps nothing aside.
    func giveAsideWay() {
        guard space.isTight || isAsideInTheWay else { return }
        isAsideInTheWay = false
        guard failure == nil, trims.isEmpty, shared.withLock({ shared in shared.figures.aside }) > 0 else { return }
        trims.append(TrimWork(TrimBounds(greatestAside: 0)) { _ in })
    }
}
