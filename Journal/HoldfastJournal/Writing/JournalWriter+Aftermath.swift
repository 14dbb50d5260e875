import Holdfast

/// The reports that a commit, done or failed, leaves to be made: first to the observer, then to the callers.
///
/// Readers of the journal see the commit before either.
struct Aftermath {
    enum Answer {
        case done([Progress], TrimWork?)
        /// The first so many requests cannot be done, and no trim; the others may.
        case refused(Int, JournalError)
        /// Nothing is done any more: those in the failed commit hear what failed, all others that it did.
        case failed(JournalError, [JournalError?], later: JournalError)
    }

    let answer: Answer
    /// Nil when there is nothing to report, or no longer anything.
    var report: CommitReport?
    /// Whether the observer has been told, of a journal that is stepped.
    var isReported = false

    init(_ answer: Answer, _ report: CommitReport? = nil) {
        self.answer = answer
        self.report = report
    }
}

extension JournalWriter {
    func report(_ aftermath: Aftermath) {
        guard let report = aftermath.report else { return }
        let observer = shared.withLock { shared in shared.observer }
        observer?(report)
    }

    func answer(_ aftermath: Aftermath) {
        switch aftermath.answer {
        case .done(let progress, let trim):
            advance(by: progress)
            advanceTrim(trim)
        case .refused(let count, let error):
            answer(count, error)
            failTrims(error)
        case .failed(let error, let verdicts, let later):
            for verdict in verdicts { answer(1, verdict ?? error) }
            answer(backlog.count, later)
            failTrims(later)
        }
    }

    /// From now on nothing is done any more.
    ///
    /// - Parameters:
    ///   - verdicts: of the requests in the commit that failed, those that were refused for another reason.
    ///   - later: what all others hear from now on; nil where a reopening tells more, and may help.
    func failed(
        _ error: JournalError, _ verdicts: [JournalError?] = [], later: JournalError? = nil
    ) -> Aftermath {
        let later =
            later
            ?? JournalError(.mustBeReopened, "\(error.message). Until then it takes nothing and gives nothing.")
        failure = later
        shared.withLock { shared in shared.failure = later }
        let unread = state.log.figures(bytes: 0).unread(by: state.readers)
        return Aftermath(
            .failed(error, verdicts, later: later),
            CommitReport(
                newestOutcome: OutcomeCursor(state.log.newest), unreadOutcomes: unread, failure: error))
    }

    private func advance(by progress: [Progress]) {
        var finished = 0
        var weight = 0
        for (index, progress) in progress.enumerated() {
            weight += backlog[index].appendedBytes
            guard backlog[index].advance(by: progress) else { break }
            finished += 1
        }
        thread.relieve(weight)
        backlog.removeFirst(finished)
    }

    /// Answers the first `count` requests with an error.
    private func answer(_ count: Int, _ error: JournalError) {
        var weight = 0
        for index in 0..<count {
            weight += backlog[index].appendedBytes
            _ = backlog[index].advance(by: .failed(error))
        }
        thread.relieve(weight)
        backlog.removeFirst(count)
    }
}
