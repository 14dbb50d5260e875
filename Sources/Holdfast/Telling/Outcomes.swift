/// The outcomes of notifications, in batches, each delivered until it is taken.
///
///     for try await batch in engine.outcomes {
///         try await store(batch.outcomes)      // tag, apns-id and token say which they are
///         try await batch.taken()              // from now on they are not delivered again
///     }
///
/// Delivery is at least once, keyed by UID: a batch that was not taken when the process ends is delivered again. There may be
/// one reader at a time. Until it has taken a batch, it gets the same one again. The sequence ends with the engine.
public struct Outcomes: AsyncSequence, Sendable {
    let source: OutcomeSource

    /// Reads the batches one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: OutcomeSource

        /// Waits for outcomes. Returns `nil` when the engine has ended or the task is cancelled.
        ///
        /// - Throws: ``JournalError`` if the journal can't be read.
        public mutating func next() async throws -> OutcomeBatch? { try await source.next() }
    }

    /// Starts with the oldest outcome that was not taken.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// A batch of outcomes.
public struct OutcomeBatch: Sendable {
    /// The outcomes, ascending by UID; at least one, at most 1000.
    public let outcomes: [Outcome]
    let journal: any JournalService

    /// Removes the outcomes from the journal, durably on return. Call it when the application has stored what it needs.
    ///
    /// - Throws: ``JournalError``; the batch is then delivered again.
    public func taken() async throws {
        try await withCheckedThrowingContinuation { continuation in
            journal.removeOutcomes(outcomes.map(\.uid)) { result in
                continuation.resume(with: result.mapError { $0 as any Error })
            }
        }
    }
}

/// Reads outcomes from the journal, and wakes the tasks that wait for them.
final class OutcomeSource: Sendable {
    /// Outcomes in a batch.
    static let batchLimit = 1000

    private struct State: Sendable {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        var hasEnded = false
    }

    private let journal: any JournalService
    private let state = Monitor(State())

    init(journal: any JournalService) { self.journal = journal }

    func next() async throws -> OutcomeBatch? {
        while true {
            if journal.outcomeCount > 0 {
                let outcomes = try journal.outcomes(after: .none, limit: Self.batchLimit)
                if !outcomes.isEmpty { return OutcomeBatch(outcomes: outcomes, journal: journal) }
            }
            if Task.isCancelled || state.withLock(\.hasEnded) { return nil }
            await wait()
        }
    }

    private func wait() async {
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
                if Task.isCancelled || journal.outcomeCount > 0 { resume(number) }
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
