import Holdfast

/// Requests that take many commits, such as a settlement of a million: between those, others have their turn.
extension JournalWriter {
    /// When the first request takes more than the next commit, or the last commit has left it unfinished, lets those go before
    /// it that need not wait for its end, as many as one commit holds. So an append waits for one commit of a bulk, and the
    /// bulk goes on with each.
    ///
    /// - Parameter budget: parts of requests that a commit holds.
    func letOvertake(_ budget: Int) {
        guard backlog.count > 1, backlog[0].done > 0 || backlog[0].remainingParts > budget else { return }
        var bytes = 0
        var isFull = false
        var overtaking: [Pending] = []
        var rest: [Pending] = []
        for pending in backlog {
            let more = pending.appendedBytes
            // In their order: behind one that has no room the next has none either.
            isFull = isFull || pending.mayOvertake && bytes > 0 && bytes + more > options.greatestCommit
            if pending.mayOvertake, !isFull {
                bytes += more
                overtaking.append(pending)
            } else {
                rest.append(pending)
            }
        }
        if !overtaking.isEmpty { backlog = overtaking + rest }
    }
}

extension JournalOptions {
    /// When a commit that begins now takes in no more settlements; nil for never, where one seed makes one run.
    var commitDeadline: ContinuousClock.Instant? {
        stepping == nil ? ContinuousClock.now + greatestCommitTime : nil
    }
}

extension CommitDraft {
    /// Settlements after which the clock is looked at.
    static let stride = 64

    /// Whether the commit has taken as long as one may. Looked at only now and then.
    ///
    /// - Parameter done: settlements of the request that it holds; there is always one stride of them.
    func isOver(after done: Int) -> Bool {
        guard done > 0, done % Self.stride == 0, let deadline else { return false }
        return ContinuousClock.now >= deadline
    }
}
