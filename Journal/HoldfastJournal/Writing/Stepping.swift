package import Holdfast

/// Has a journal run without threads of its own, moved on step by step and failing as it is told: for a simulation, in
/// which one seed makes one run.
///
/// The journal commits only inside of ``LMDBJournal/step(atMost:)`` and ``LMDBJournal/stepBlacklist()``, and in the calls
/// that are durable on return, which step until they are answered. It allocates nothing ahead of use, and measures no
/// time. One that is dropped without ``LMDBJournal/close()`` has crashed: what was not committed is gone, nobody who waits
/// is answered, and the directory can be opened again in the same process.
///
/// Everything must come from one thread at a time.
package struct Stepping: Sendable {
    /// The key of a journal that is made; nil for a random one.
    package var identityKey: IdentityKey?
    package var faults: StorageFaults

    package init(identityKey: IdentityKey? = nil, faults: StorageFaults = StorageFaults()) {
        self.identityKey = identityKey
        self.faults = faults
    }
}

/// Decides each time whether something of the storage fails. By default nothing does.
package struct StorageFaults: Sendable {
    /// How a commit fails.
    package enum Commit: Sendable {
        /// The disk has no room for it: nothing of it is there, and the journal goes on, trying smaller ones.
        case diskFull
        /// Its fate is not known, and the journal must be reopened: then nothing of it is there.
        case lost
        /// Its fate is not known, and the journal must be reopened: then everything of it is there.
        case kept
    }

    /// Asked at the end of each commit of entries; those that are tried again smaller ask again.
    package var entriesCommit: @Sendable () -> Commit? = { nil }
    /// Asked at the end of each commit of the blacklist.
    package var blacklistCommit: @Sendable () -> Commit? = { nil }
    /// Asked before each read of the store, of the blacklist too.
    package var read: @Sendable () -> JournalError? = { nil }

    package init() {}
}

/// A moment of a commit. Others may do anything before the next one.
package enum CommitMoment: Sendable {
    /// It is on disk, and whoever reads sees it. Or it has failed, and the journal knows.
    case visible
    /// The observer has heard of it.
    case reported
    /// Those who asked are answered.
    case completed
}

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

extension JournalWriter {
    func step(atMost count: Int) -> CommitMoment? {
        thread.impersonate {
            if var aftermath = unsaid {
                unsaid = nil
                if aftermath.isReported {
                    answer(aftermath)
                    return .completed
                }
                aftermath.isReported = true
                unsaid = aftermath
                report(aftermath)
                return .reported
            }
            let requests = thread.takeMore()
            take(requests)
            giveAsideWay()
            if marksRefused, backlog.isEmpty, trims.isEmpty {
                // They wait for the next step, as they would for the next second.
                marksRefused = false
                return nil
            }
            unsaid = commit(atMost: count)
            return unsaid == nil ? nil : .visible
        }
    }

    func step<Value>(until reply: Reply<Value>) {
        while !reply.isGiven, step(atMost: .max) != nil {}
    }

    /// Does what waits, and says that the journal was closed in order.
    func stepToEnd() {
        while step(atMost: .max) != nil {}
        finish()
    }

    /// Drops what waits, unanswered.
    func forget() {
        _ = thread.takeMore()
        unsaid = nil
        backlog = []
        trims = []
    }

    var waitingCount: Int { thread.waitingCount + backlog.count + trims.count + (marksWait ? 1 : 0) }
}

extension LMDBBlacklist {
    func step() -> CommitMoment? {
        thread.impersonate {
            let answers = unsaid.withLock { unsaid in
                defer { unsaid = nil }
                return unsaid
            }
            if let answers {
                answers()
                return .completed
            }
            let changes = thread.takeMore()
            guard !changes.isEmpty else { return nil }
            let next = commit(changes)
            unsaid.withLock { unsaid in unsaid = next }
            return .visible
        }
    }

    func step<Value>(until reply: Reply<Value>) {
        while !reply.isGiven, step() != nil {}
    }

    func stepToEnd() {
        thread.shut()
        while step() != nil {}
    }

    var waitingCount: Int { thread.waitingCount + (unsaid.withLock { unsaid in unsaid == nil } ? 0 : 1) }
}
