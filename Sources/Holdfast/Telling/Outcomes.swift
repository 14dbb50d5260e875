/// How notifications ended, in batches, until they are taken.
///
///     for try await batch in engine.outcomes {
///         try await store(batch.outcomes)      // tag, apns-id and token say which they are
///         try await batch.taken()              // from now on they are not delivered again
///     }
///
/// Delivered at least once, keyed by UID: what was not taken when the process ends comes again. One reader at a time; it
/// gets the next batch when it has taken the last one (asked for sooner, it gets the same one again). Ends with the engine.
public struct Outcomes: AsyncSequence, Sendable {
    let source: OutcomeSource

    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: OutcomeSource

        /// - Throws: ``JournalError`` when the journal can't be read.
        public mutating func next() async throws -> OutcomeBatch? { try await source.next() }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// Outcomes, in the order of their UIDs.
public struct OutcomeBatch: Sendable {
    public let outcomes: [Outcome]
    let journal: any Journal

    /// The application has what it needs of them: they leave the journal, durably on return.
    ///
    /// - Throws: ``JournalError``; they will be delivered again.
    public func taken() async throws {
        try await withCheckedThrowingContinuation { continuation in
            journal.removeOutcomes(outcomes.map(\.uid)) { result in
                continuation.resume(with: result.mapError { $0 as any Error })
            }
        }
    }
}

/// Reads outcomes from the journal and wakes who waits for them.
final class OutcomeSource: Sendable {
    /// Outcomes in a batch.
    static let batchLimit = 1000

    private struct State: Sendable {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        var hasEnded = false
    }

    private let journal: any Journal
    private let state = Monitor(State())

    init(journal: any Journal) { self.journal = journal }

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

    /// There are outcomes.
    func wake() { resumeAll { _ in } }

    /// None will come any more.
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
