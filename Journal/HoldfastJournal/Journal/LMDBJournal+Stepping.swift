extension LMDBJournal {
    /// Moves on by one moment: to the next one of the commit that was begun, or to the first one of a new commit.
    ///
    /// - Parameter count: the most requests that a new commit holds.
    /// - Returns: the moment that is reached; nil when nothing waits.
    @discardableResult
    package func step(atMost count: Int = .max) -> CommitMoment? {
        precondition(options.stepping != nil, "a journal with a thread of its own cannot be stepped")
        return parts.writer.step(atMost: count)
    }

    /// Moves the blacklist on by one moment. It has no observer.
    @discardableResult
    package func stepBlacklist() -> CommitMoment? {
        precondition(options.stepping != nil, "a journal with threads of its own cannot be stepped")
        return tokens.step()
    }

    /// Requests that are not answered yet; one more when a send mark waits for a commit.
    package var waitingCount: Int { parts.writer.waitingCount }

    /// Changes of the blacklist that wait for a commit; one more when one waits for its answers.
    package var waitingBlacklistCount: Int { tokens.waitingCount }

    /// The end of a process by kill -9: what was not committed is gone, and nobody is answered.
    package func crash() {
        precondition(options.stepping != nil, "a journal with threads of its own cannot crash alone")
        parts.abandon()
    }
}
