internal import Holdfast
internal import HoldfastPlatform

/// What the thread of a shared blacklist and its callers tell each other. Nobody holds its lock while waiting for anything else.
final class SharedBlacklistBoard: Sendable {
    private struct State: Sendable {
        var pending = PendingChanges()
        var lastID: UInt64 = 0
        var isStopped = false
        var isThreadOver = false
        /// Who waits for the copy to catch up takes the next number, and waits until the thread has come to it.
        var asked: UInt64 = 0
        var caughtUp: UInt64 = 0
        var status = SharedBlacklist.Status()
    }

    private let state = Monitor(State())

    var status: SharedBlacklist.Status {
        state.withLock { state in
            var status = state.status
            status.untoldCount = state.pending.untoldCount
            return status
        }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// The changes that the copy does not show yet.
    var byRecipient: [Recipient: [SharedChange]] { state.withLock { $0.pending.byRecipient } }

    // MARK: Callers

    /// - Returns: nil when nothing is taken any more.
    func take(
        _ changes: [SharedChange], answer: @escaping @Sendable (Result<Int, JournalError>) -> Void
    ) -> UInt64? {
        state.change { state in
            guard !state.isStopped else { return nil }
            state.lastID += 1
            state.pending.take(SharedChanges(id: state.lastID, changes: changes, answer: answer))
            return state.lastID
        }
    }

    func withdraw(_ id: UInt64) -> Bool { state.change { $0.pending.withdraw(id) } }

    /// - Returns: whether the copy has caught up in time.
    func catchUp(_ time: Duration) -> Bool {
        let mine = state.change { state in
            state.asked += 1
            return state.asked
        }
        let came = state.wait(atMost: time) { state -> Bool? in
            state.caughtUp >= mine ? true : state.isThreadOver ? false : nil
        }
        return came ?? false
    }

    func stop() { state.change { $0.isStopped = true } }

    func waitForEnd() { _ = state.wait { $0.isThreadOver ? true : nil } }

    // MARK: The thread

    func begin(atMost limit: Int) -> [SharedChanges] { state.change { $0.pending.begin(atMost: limit) } }

    func told(upTo number: UInt64) { state.change { $0.pending.told(upTo: number) } }

    /// To be noted before the feed is read.
    var asked: UInt64 { state.withLock { $0.asked } }

    /// The copy has all that the feed had when it was read.
    func copied(upTo number: UInt64, asked: UInt64) {
        state.change { state in
            state.pending.copied(upTo: number)
            state.caughtUp = asked
            state.status.number = number
            state.status.isFilling = false
        }
    }

    func beganAnew() {
        state.change { state in
            state.pending.beganAnew()
            state.status.isFilling = true
        }
    }

    func tell(_ trouble: FeedTrouble?) {
        state.change { state in
            let since = state.status.trouble?.since ?? .now
            state.status.trouble = trouble.map { trouble in
                SharedBlacklist.Trouble(words: trouble.description, isOfCopy: trouble.isOfCopy, since: since)
            }
        }
    }

    /// Rests until a time is over, or the blacklist is to stop; or something waits for the thread.
    func rest(_ time: Duration, heeding: Bool) {
        _ = state.wait(atMost: time) { state -> Bool? in
            let isWanted = state.pending.untoldCount > 0 || state.asked > state.caughtUp
            return state.isStopped || heeding && isWanted ? true : nil
        }
    }

    func end() -> [SharedChanges] {
        state.change { state in
            state.isThreadOver = true
            return state.pending.giveUp()
        }
    }
}
