/// What is known about the commit of one call, from what was sent and what came back. Decides alone whether a call that
/// ended without its answer is in doubt.
///
/// All statements of a call go out together, and one Sync behind them. The server carries them out in order, and skips what
/// is left up to the Sync after an error. Statements outside of a transaction of their own are committed by the Sync.
struct CommitDoubt {
    /// The statement whose execution commits, with the Sync as the one behind the last; `nil` when nothing is committed.
    let commitPoint: Int?
    private let mayCommitItself: Bool
    private let count: Int

    /// Statements whose answer has come.
    private(set) var answered = 0
    private var hasFailed = false
    private var isSynced = false
    private var mayHaveLeft = false
    private var mayHaveLeftWhole = false

    /// - Throws: `unexpected` when a statement follows one that commits: if it failed, it could not be said in one word what
    ///   became of the call.
    init(_ steps: [(effect: StatementEffect, isReading: Bool)], inTransaction: Bool) throws(PQError) {
        var inTransaction = inTransaction
        var isPending = false
        var commit: Int?
        var mayCommitItself = false
        for (index, step) in steps.enumerated() {
            switch step.effect {
            case .begins:
                // What was pending becomes a part of the transaction.
                inTransaction = true
                isPending = false
            case .commits:
                guard index == steps.count - 1 else {
                    throw PQError(.unexpected, "a statement that commits must be the last of its call", step: index)
                }
                commit = index
                isPending = false
            case .rollsBack:
                inTransaction = false
                isPending = false
            case .mayCommitItself, .none:
                if step.isReading || inTransaction { continue }
                isPending = true
                if step.effect == .mayCommitItself { mayCommitItself = true }
            }
        }
        commitPoint = isPending ? steps.count : commit
        self.mayCommitItself = mayCommitItself
        count = steps.count
    }

    /// Bytes may be on their way to the server.
    ///
    /// - Parameter whole: all of them, the Sync too.
    mutating func sent(whole: Bool) {
        mayHaveLeft = true
        if whole { mayHaveLeftWhole = true }
    }

    /// The next statement was carried out.
    mutating func answer() { answered += 1 }

    /// The server reported an error for the statement that is next, or for the Sync.
    ///
    /// - Returns: whether the error is the last word. One that ends the session in place of the commit's own answer is not:
    ///   the commit may have been made before the session was told to end.
    mutating func fail(endingSession: Bool) -> Bool {
        if endingSession, isCommitAtStake(at: answered) { return false }
        hasFailed = true
        return true
    }

    /// Whether the commit may be what the server was doing when it answered so many statements.
    private func isCommitAtStake(at answered: Int) -> Bool {
        guard let commitPoint else { return false }
        return mayCommitItself || answered == commitPoint
    }

    /// The server is ready for the next call.
    mutating func sync() { isSynced = true }

    /// Whether a COMMIT has been answered: a loss of the connection before the server is ready again takes nothing back.
    var isAnswered: Bool { answered == count && commitPoint == count - 1 }

    /// Whether the commit may have been made, or still be made, if no more is heard of the server.
    var isInDoubt: Bool {
        guard let commitPoint, mayHaveLeft, !hasFailed, !isSynced, !isAnswered else { return false }
        // A Sync that never left whole can't have been obeyed. A COMMIT before it can.
        if commitPoint == count, !mayCommitItself { return mayHaveLeftWhole }
        return true
    }
}
