public import Holdfast

/// What is there after a commit whose fate was not known.
public enum BrokenCommit: Sendable {
    /// Everything that the commit held.
    case all
    /// Nothing of it.
    case nothing
}

/// What can go wrong, at a test's will.
extension InMemoryJournal {
    /// What a new process finds after this one was killed: everything committed, nothing that waited. This journal stays
    /// as it is; what is done to it from now on is lost.
    ///
    /// - Parameter mode: of the new one; nil for the same.
    public func crashed(mode: Mode? = nil) -> InMemoryJournal {
        InMemoryJournal(disk: state.withLock(\.disk), mode: mode ?? self.mode)
    }

    /// Closes this journal and opens it again, as the same process would after ``Holdfast/JournalError/Code/undetermined``.
    public func reopened() -> InMemoryJournal {
        close()
        return crashed()
    }

    /// From now on every write but those of the blacklist fails with `error` and leaves nothing; nil lets writes succeed
    /// again.
    public func failWrites(with error: JournalError?) {
        state.withLock { $0.writeFailure = error }
        // Marks that could not be raised.
        if error == nil, mode == .immediate { commitAll() }
    }

    /// The next commit fails as ``Holdfast/JournalError/Code/undetermined``, also when it holds nothing but send marks. After
    /// it everything fails with ``Holdfast/JournalError/Code/mustBeReopened``.
    ///
    /// - Parameter remains: what ``reopened()`` and ``crashed(mode:)`` find of it.
    public func breakNextCommit(leaving remains: BrokenCommit) { state.withLock { $0.nextCommitBreaks = remains } }

    /// From now on every read, those of the blacklist included, fails with `error`; nil lets reads succeed again.
    public func failReads(with error: JournalError?) { state.withLock { $0.readFailure = error } }

    /// The journal's own limit, in unconfirmed entries: appends beyond it fail with
    /// ``Holdfast/JournalError/Code/limitReached``, and everything else goes on. Nil for none.
    public func limitEntries(to greatest: Int?) { state.withLock { $0.greatestEntryCount = greatest } }

    /// From now on every write of the blacklist fails with `error` and leaves nothing; nil lets them succeed again.
    public func failBlacklistWrites(with error: JournalError?) {
        state.withLock { $0.blacklistWriteFailure = error }
    }

    /// Commits every change of the blacklist that waits, as one commit, and then calls the completions in order.
    public func commitBlacklist() { tokens.commit() }

    /// The changes of the blacklist that wait for a commit.
    public var waitingBlacklistCount: Int { state.withLock { $0.blacklistWaiting.count } }
}
