package import HoldfastPQ

/// Decides what becomes of one commit whose call failed. It has no clock and no connection.
package struct GateMachine: Sendable {
    /// Why a gate keeps nothing more.
    package enum Ending: Hashable, Sendable {
        /// Another host has taken the journal.
        case ownershipLost
        /// The log has other commits than this gate has kept: the database was rolled back, or another gate writes.
        case contradicted
        /// The gate was told to stop.
        case stopped
    }

    /// What is known after a call.
    package enum Failure: Error, Hashable, Sendable {
        /// The server said no to the call.
        case refused(sqlState: String?)
        /// The commit may have been kept, or be kept later.
        case inDoubt
        /// The call has no effect.
        case withoutEffect

        package init(_ error: PQError) {
            self =
                switch error.kind {
                case .refused: .refused(sqlState: error.sqlState)
                case .unreachable, .interrupted, .configuration: .withoutEffect
                // An answer that can't be read may be one to a commit.
                case .inDoubt, .unexpected: .inDoubt
                }
        }
    }

    package enum Step: Hashable, Sendable {
        /// The same number is sent again.
        case sendAgain(after: Duration)
        /// The commit is not in the log, and never will be.
        case notKept(Ending)
        /// Nobody here knows whether the commit is in the log.
        case undetermined(Ending)
        /// The log lacks commits that were kept. The same number is sent again when it has them.
        case waitForMending
        /// Not kept: rows of the outbox that the commit takes are not this journal's. The gate goes on with another commit.
        case rowsGone
    }

    private let longestPause: Duration
    /// Whether somebody writes back what the log lacks.
    private let isMended: Bool
    /// Whether a call before may have kept the commit. Only an answer to the same number says more.
    private var isInDoubt = false
    private var pause: Duration

    package init(
        isMended: Bool = false, firstPause: Duration = .milliseconds(50), longestPause: Duration = .seconds(2)
    ) {
        self.isMended = isMended
        self.longestPause = longestPause
        pause = firstPause
    }

    /// A call failed.
    package mutating func failed(_ failure: Failure, isStopped: Bool) -> Step {
        switch failure {
        case .refused(LogRefusal.lost):
            // The first try may have been kept before the journal was taken.
            return isInDoubt ? .undetermined(.ownershipLost) : .notKept(.ownershipLost)
        case .refused(LogRefusal.otherCommit):
            // What the log has in its place keeps this commit out, whatever became of the first try.
            return .notKept(.contradicted)
        case .refused(LogRefusal.gap): return isMended ? .waitForMending : .notKept(.contradicted)
        case .refused(LogRefusal.rowsGone):
            // The log lacks the commit, whatever became of the first try.
            return .rowsGone
        case .refused, .withoutEffect: break
        case .inDoubt: isInDoubt = true
        }
        if isStopped { return stopped() }
        defer { pause = min(pause * 2, longestPause) }
        return .sendAgain(after: pause)
    }

    /// The gate has ended while nothing is under way.
    package func ended(_ ending: Ending) -> Step {
        // What the log has in the place of the journal's commits, or lacks before this one, keeps it out.
        isInDoubt && ending != .contradicted ? .undetermined(ending) : .notKept(ending)
    }

    /// The gate is told to stop while nothing is under way.
    package func stopped() -> Step { ended(.stopped) }
}
