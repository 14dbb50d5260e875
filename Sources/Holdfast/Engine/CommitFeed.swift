/// An engine's exclusive claim on its journal: it is the journal's one commit observer, as long as the engine lives.
///
/// Two engines on one journal would read the same entries, and send each of them twice. So an engine first becomes the
/// journal's observer, which fails while another engine is.
final class CommitFeed: Sendable {
    typealias Handler = @Sendable (CommitReport) -> Void

    private struct State: Sendable {
        var handler: Handler?
        var isReleased = false
    }

    private let journal: any JournalService
    private let state: Monitor<State>

    /// - Throws: ``JournalError`` with code ``JournalError/Code/inUse`` while another engine delivers from the journal.
    init(_ journal: any JournalService) throws(JournalError) {
        let state = Monitor(State())
        try journal.observeCommits { report in state.withLock(\.handler)?(report) }
        self.journal = journal
        self.state = state
    }

    deinit { release() }

    /// Passes commits on from here on.
    func deliver(to handler: @escaping Handler) { state.withLock { $0.handler = handler } }

    /// Releases the journal for another engine.
    func release() {
        let isFirst = state.withLock { state in
            defer { (state.handler, state.isReleased) = (nil, true) }
            return !state.isReleased
        }
        if isFirst { journal.endObserving() }
    }
}
