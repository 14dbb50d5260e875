internal import Foundation

/// Tells who waits for single notifications how they ended, as soon as that is on disk.
///
/// It reads the journal's log behind the commits, on a thread of its own, and only while somebody waits. So it costs others
/// nothing, and holds up nobody.
package final class OutcomeFeed: Sendable {
    /// Called once: with the outcome, or with `nil` when the engine has ended first. On the feed's thread; must not block.
    package typealias Handler = @Sendable (Outcome?) -> Void

    /// The promise of a submission whose UIDs are not known yet: what ends from its beginning on is remembered for it.
    package struct Watch: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// One who waits, to be forgotten by ``OutcomeFeed/forget(_:)``.
    package struct Wait: Hashable, Sendable {
        fileprivate let uid: UID
        fileprivate let number: UInt64
    }

    private let journal: any JournalService
    private let state = Monitor(OutcomeWaiters())

    init(journal: any JournalService) { self.journal = journal }

    /// Begins to watch, before the submission. Must be followed by one ``end(_:)``, when all of the submission's UIDs are
    /// known and waited for.
    package func begin() -> Watch {
        let newest = journal.outcomeLog.newest
        let (number, starts) = state.withLock { $0.begin(at: newest) }
        if starts { startThread() }
        return Watch(number: number)
    }

    package func end(_ watch: Watch) { state.withLock { $0.end(watch.number) } }

    /// Waits for the end of an entry that was accepted during the watch.
    ///
    /// - Parameter handler: called at once, on this thread, if it has ended already.
    package func await(_ uid: UID, _ watch: Watch, _ handler: @escaping Handler) -> Wait {
        let (number, outcome, hasEnded) = state.withLock { $0.await(uid, handler) }
        if outcome != nil || hasEnded { handler(outcome) }
        return Wait(uid: uid, number: number)
    }

    /// Waits for the ends of several entries that were accepted during the watch.
    ///
    /// - Parameter waits: the handlers of entries that have ended already are called at once, on this thread.
    package func await(_ waits: [(uid: UID, handler: Handler)], _ watch: Watch) -> [Wait] {
        let begun = state.withLock { state in waits.map { state.await($0.uid, $0.handler) } }
        var all: [Wait] = []
        all.reserveCapacity(waits.count)
        for ((uid, handler), (number, outcome, hasEnded)) in zip(waits, begun) {
            if outcome != nil || hasEnded { handler(outcome) }
            all.append(Wait(uid: uid, number: number))
        }
        return all
    }

    /// Calls the handler no more, unless it is being called just now.
    package func forget(_ wait: Wait) { forget([wait]) }

    /// Calls these handlers no more, unless they are being called just now.
    package func forget(_ waits: [Wait]) {
        guard !waits.isEmpty else { return }
        state.withLock { state in
            for wait in waits { state.forget(wait.uid, wait.number) }
        }
    }

    /// The log has grown.
    func wake(newest: OutcomeCursor) {
        let isWanted = state.withLock { $0.grown(to: newest) }
        if isWanted { state.broadcast() }
    }

    /// Nothing ends any more.
    func end() {
        let handlers = state.withLock { $0.endAll() }
        state.broadcast()
        for handler in handlers { handler(nil) }
    }

    private func startThread() {
        let thread = Thread { [self] in work() }
        thread.name = "holdfast-outcomes"
        thread.start()
    }

    private func work() {
        while true {
            let start: OutcomeCursor?? = state.wait { state in
                if state.hasEnded { return .some(nil) }
                return state.nextRead.map { .some($0) }
            }
            guard let start, let start else { return }
            do throws(JournalError) {
                let page = try journal.outcomes(after: start, limit: 1000)
                let calls = state.withLock { $0.take(page) }
                for (handler, outcome) in calls { handler(outcome) }
            } catch {
                // A journal that cannot be read ends the engine, and with it all waiting.
                state.withLock { $0.readFailed() }
            }
        }
    }
}

/// Who waits for which entries. A pure machine.
struct OutcomeWaiters: Sendable {
    private var waiting: [UID: [(number: UInt64, handler: OutcomeFeed.Handler)]] = [:]
    /// By number: the newest outcome when the watch began.
    private var watches: [UInt64: OutcomeCursor] = [:]
    /// What has ended since the oldest watch began, and nobody had asked for.
    private var recent: [UID: Outcome] = [:]
    private var recentOrder: ArraySlice<(cursor: OutcomeCursor, uid: UID)> = []
    private var next: UInt64 = 0
    private var newest = OutcomeCursor.start
    private var readThrough = OutcomeCursor.start
    private var hasStarted = false
    private(set) var hasEnded = false

    /// Outcomes that nobody has asked for yet.
    var rememberedCount: Int { recent.count }

    private var isIdle: Bool { waiting.isEmpty && watches.isEmpty }

    /// Where to read on; nil while there is nothing to read, or nobody to read it for.
    var nextRead: OutcomeCursor? { isIdle || readThrough >= newest ? nil : readThrough }

    /// - Returns: the watch's number, and whether the thread must be started.
    mutating func begin(at cursor: OutcomeCursor) -> (UInt64, starts: Bool) {
        if isIdle { readThrough = cursor }
        newest = max(newest, cursor)
        next += 1
        watches[next] = cursor
        defer { hasStarted = true }
        return (next, !hasStarted && !hasEnded)
    }

    mutating func end(_ watch: UInt64) {
        watches[watch] = nil
        prune()
    }

    /// - Returns: the number of the wait, and the outcome if there is one already; then nobody waits.
    mutating func await(_ uid: UID, _ handler: @escaping OutcomeFeed.Handler) -> (UInt64, Outcome?, hasEnded: Bool) {
        next += 1
        if let outcome = recent[uid] { return (next, outcome, false) }
        if hasEnded { return (next, nil, true) }
        waiting[uid, default: []].append((next, handler))
        return (next, nil, false)
    }

    mutating func forget(_ uid: UID, _ number: UInt64) {
        waiting[uid]?.removeAll { $0.number == number }
        if waiting[uid]?.isEmpty == true { waiting[uid] = nil }
    }

    /// - Returns: whether somebody must read.
    mutating func grown(to cursor: OutcomeCursor) -> Bool {
        newest = max(newest, cursor)
        return nextRead != nil
    }

    /// - Returns: whom to tell what.
    mutating func take(_ page: OutcomePage) -> [(OutcomeFeed.Handler, Outcome)] {
        // Deleted or unreadable outcomes are passed over.
        readThrough = page.outcomes.isEmpty ? max(page.end, newest) : page.end
        var calls: [(OutcomeFeed.Handler, Outcome)] = []
        for outcome in page.outcomes {
            if let waiters = waiting.removeValue(forKey: outcome.uid) {
                for waiter in waiters { calls.append((waiter.handler, outcome)) }
            }
            if !watches.isEmpty {
                recent[outcome.uid] = outcome
                recentOrder.append((outcome.cursor, outcome.uid))
            }
        }
        prune()
        return calls
    }

    /// What is there is left to the next commit.
    mutating func readFailed() { readThrough = newest }

    mutating func endAll() -> [OutcomeFeed.Handler] {
        hasEnded = true
        defer { waiting = [:] }
        return waiting.values.flatMap { $0.map(\.handler) }
    }

    /// What ended before the oldest watch began is not what it waits for.
    private mutating func prune() {
        guard let oldest = watches.values.min() else {
            recent = [:]
            recentOrder = []
            return
        }
        while let first = recentOrder.first, first.cursor <= oldest {
            recentOrder.removeFirst()
            if recent[first.uid]?.cursor == first.cursor { recent[first.uid] = nil }
        }
    }
}
