internal import Foundation
internal import Holdfast

/// The moments of a commit, one after the other, for tests that let others act between them.
///
/// A journal with a writer of its own has them too: readers see a commit before its observer hears of it, and the
/// observer hears of it before those who asked, who are answered one by one.
extension InMemoryJournal {
    /// How far a commit under way has come.
    public enum Moment: Hashable, Sendable {
        /// Readers see it, and a crash would leave it; nobody was told.
        case visible
        /// The observer was told; some of those who asked were not.
        case reported
    }

    /// How far the commit under way has come; nil when none is.
    public var moment: Moment? {
        state.withLock { state in state.underWay.map { $0.report == nil ? .reported : .visible } }
    }

    /// Commits the first `count` calls that wait, as one commit, and tells nobody of it: see ``stepCommit()``. A commit
    /// that is under way comes to its end first.
    public func beginCommit(atMost count: Int = .max) {
        refuseOwnCompletions()
        finishCommit()
        state.withLock { state in
            let done = Self.commitOnce(&state, atMost: count)
            state.underWay = done.report == nil && done.answers.isEmpty ? nil : done
        }
    }

    /// Takes the commit under way one moment further: calls the observer, or else one completion.
    public func stepCommit() {
        refuseOwnCompletions()
        let me = ObjectIdentifier(Thread.current)
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            guard let next = state.underWay?.takeNext() else { return nil }
            if state.underWay?.isOver == true { state.underWay = nil }
            state.committer = me
            return next
        }
        guard let next else { return }
        next()
        state.withLock { $0.committer = nil }
        state.broadcast()
    }

    /// Takes the commit under way to its end.
    public func finishCommit() { while moment != nil { stepCommit() } }
}

extension InMemoryJournal.Done {
    var isOver: Bool { report == nil && answers.isEmpty }

    mutating func takeNext() -> (@Sendable () -> Void)? {
        guard let report else { return answers.isEmpty ? nil : answers.removeFirst() }
        self.report = nil
        return { [observer] in observer?(report) }
    }
}
