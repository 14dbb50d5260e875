import Holdfast

/// Indexes of the log of outcomes, which are put row by row behind everything else.
extension JournalWriter {
    /// Rows that one commit puts: so few that nobody notices, and many times what the log grows by.
    static let indexBudget = 32

    /// Has the index of the next complete segment built, unless one is on its way.
    func beginIndex() {
        guard state.log.hasUnindexedSegment, indexWork == nil, failure == nil, space.refusal == nil else { return }
        let segment = max(state.log.unindexed, OutcomeBlock.segment(of: state.log.deleted + 1))
        guard segment < OutcomeBlock.segment(of: state.log.newest + 1) else { return }
        if options.stepping != nil {
            indexWork = indexer.build(segment)
            return
        }
        indexer.begin(segment) { [thread] work in _ = thread.leave(.index(work)) }
    }

    func takeIndex(_ work: IndexWork) {
        if failure == nil, indexWork == nil { indexWork = work }
    }
}
