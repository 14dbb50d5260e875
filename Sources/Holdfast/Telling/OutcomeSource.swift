/// Reads outcomes from the journal's log for readers, and wakes the tasks that wait for them.
final class OutcomeSource: Sendable {
    /// Outcomes in a batch.
    static let batchLimit = 1000
    /// Outcomes for others that a reader passes before that is noted on disk.
    private static let passedLimit: UInt64 = 10_000
    /// How long it may take until that is noted where there are fewer.
    private static let passedTime = Duration.seconds(5)

    /// Who reads, and what of it.
    struct Reader: Hashable, Sendable {
        let name: String
        /// `nil` for all.
        let producers: Set<String>?
    }

    /// How far a reader has come by outcomes that are none of its own.
    struct Passed: Sendable {
        /// Everything up to here is for other readers, or missing.
        fileprivate var cursor = OutcomeCursor.start
        /// Outcomes missing up to there of which no batch was taken yet that tells it.
        fileprivate var missed = 0
        /// The end of the last batch. When it is taken, what was missing is told.
        fileprivate var batchEnd: OutcomeCursor?

        init() {}
    }

    private struct State: Sendable {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        var hasEnded = false
    }

    private let journal: any JournalService
    private let state = Monitor(State())

    /// Told when something was read.
    private let damage: HistoryDamage?

    init(journal: any JournalService, damage: HistoryDamage? = nil) { (self.journal, self.damage) = (journal, damage) }

    /// Waits for the next batch.
    ///
    /// - Parameter passed: moved on.
    func next(for reader: Reader, _ passed: inout Passed) async throws -> OutcomeBatch? {
        var noteBy: ContinuousClock.Instant?
        while true {
            let cursor = try cursor(of: reader.name)
            if let end = passed.batchEnd, cursor >= end { (passed.missed, passed.batchEnd) = (0, nil) }
            let start = max(cursor, passed.cursor)
            let log = journal.outcomeLog
            if log.newest > start {
                let page = try read(after: start)
                let missing = page.missing(after: start, deleted: journal.outcomeLog.deleted)
                let missed = passed.missed + missing.deleted + missing.unreadable
                if let batch = batch(of: page, for: reader, missed: missed) {
                    passed.batchEnd = batch.end
                    return batch
                }
                if page.end > start {
                    (passed.cursor, passed.missed) = (page.end, missed)
                    if page.end.rawValue - cursor.rawValue >= Self.passedLimit { note(page.end, of: reader.name) }
                    continue
                }
            }
            if Task.isCancelled || state.withLock(\.hasEnded) { return nil }
            guard passed.cursor > cursor else {
                await wait(after: max(start, log.newest))
                continue
            }
            let deadline = noteBy ?? .now + Self.passedTime
            noteBy = deadline
            await wait(after: max(start, log.newest), atMost: deadline - .now)
            if .now >= deadline {
                note(passed.cursor, of: reader.name)
                noteBy = nil
                // Durable a moment later: until then it would be noted again and again.
                await wait(after: max(start, log.newest), atMost: Self.passedTime)
            }
        }
    }

    private func cursor(of reader: String) throws(JournalError) -> OutcomeCursor {
        guard let known = journal.outcomeReaders.first(where: { $0.name == reader }) else {
            throw JournalError(.notFound, "the journal has no reader \(reader.debugDescription) of outcomes any more")
        }
        return known.cursor
    }

    /// Reads up to the next gap, which is told before what lies behind it.
    private func read(after cursor: OutcomeCursor) throws(JournalError) -> OutcomePage {
        let page = try journal.outcomes(after: cursor, limit: Self.batchLimit).upToGap()
        damage?.look(journal)
        return page
    }

    private func batch(of page: OutcomePage, for reader: Reader, missed: Int) -> OutcomeBatch? {
        let wanted = reader.producers.map { names in page.outcomes.filter { names.contains($0.producer) } }
        let outcomes = wanted ?? page.outcomes
        guard !outcomes.isEmpty else { return nil }
        return OutcomeBatch(outcomes: outcomes, end: page.end, missed: missed, reader: reader.name, journal: journal)
    }

    /// Others' outcomes need not be passed again by the next process, nor count as unread. If this fails, they are and do.
    private func note(_ passed: OutcomeCursor, of reader: String) { journal.setReader(reader, to: passed) { _ in } }

    /// Whether no more outcomes come.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Waits until there is an outcome after `cursor`, none can come any more, or the time is over.
    func wait(after cursor: OutcomeCursor, atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await self.wait(after: cursor) }
            tasks.addTask { do { try await Task.sleep(for: limit) } catch {} }
            _ = await tasks.next()
            tasks.cancelAll()
        }
    }

    private func wait(after cursor: OutcomeCursor) async {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.hasEnded { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { return continuation.resume() }
                // Registered before it is looked at: a commit in between is not missed.
                if Task.isCancelled || journal.outcomeLog.newest > cursor { resume(number) }
            }
        } onCancel: {
            resume(number)
        }
    }

    private func resume(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }

    /// Wakes waiting tasks, because there are outcomes.
    func wake() { resumeAll { _ in } }

    /// Ends all waiting, because no more outcomes come.
    func end() { resumeAll { $0.hasEnded = true } }

    private func resumeAll(_ change: @Sendable (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }
}
