public import Holdfast

/// A ``Holdfast/FeedbackSource`` without a network, for tests: it says what it is told to, and forgets what was read.
///
///     let feedback = InMemoryFeedback([FeedbackTuple(token: token, since: clock.wall)])
///     let reader = FeedbackReader(feedback, blacklist: engine.blacklist)
///     try await reader.read()
///     #expect(try engine.blacklist.isBlacklisted(token) != nil)
public final class InMemoryFeedback: FeedbackSource {
    private struct State: Sendable {
        var pending: [FeedbackTuple]
        var failures: [(after: Int, error: FeedbackError)] = []
        var holdsOpen = false
        var readingCount = 0
        var openCount = 0
    }

    /// The name of this source in logs: `memory`.
    public let endpoint = "memory"
    private let batchLimit: Int
    private let state: Monitor<State>

    /// - Parameters:
    ///   - tuples: what a first reading finds.
    ///   - batchLimit: the most that are handed over at a time; at least 1.
    public init(_ tuples: [FeedbackTuple] = [], batchLimit: Int = 2) {
        self.batchLimit = max(batchLimit, 1)
        state = Monitor(State(pending: tuples))
    }

    /// Something more to say, to the reading under way or to the next.
    public func add(_ tuples: [FeedbackTuple]) { state.withLock { $0.pending += tuples } }

    /// The next reading fails, when it has handed over so many tuples or has no more. Each further call is about the
    /// reading after that.
    public func failReading(after count: Int = 0, with error: FeedbackError) {
        state.withLock { $0.failures.append((count, error)) }
    }

    /// Whether a reading stays open at its end, until it is cancelled or this is called with false.
    public func holdOpen(_ holds: Bool) { state.withLock { $0.holdsOpen = holds } }

    /// What was not read yet.
    public var pending: [FeedbackTuple] { state.withLock(\.pending) }

    /// How often a reading began.
    public var readingCount: Int { state.withLock(\.readingCount) }

    /// Readings that are under way.
    public var openCount: Int { state.withLock(\.openCount) }

    /// Waits until `condition` holds for this source, looking again and again; for at most `limit`.
    ///
    /// - Returns: whether it came to hold.
    public func waitUntil(
        limit: Duration = .seconds(10), _ condition: @escaping @Sendable (InMemoryFeedback) -> Bool
    ) async -> Bool {
        await Patience(limit).wait { condition(self) }
    }

    /// Hands over the tuples that wait, in batches, until none is left or the reading fails as ordered.
    public func read(
        _ take: @Sendable ([FeedbackTuple]) async throws(FeedbackError) -> Void
    ) async throws(FeedbackError) {
        var failure = state.withLock { state in
            state.readingCount += 1
            state.openCount += 1
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        defer { state.withLock { $0.openCount -= 1 } }
        while !Task.isCancelled {
            let limit = min(batchLimit, failure?.after ?? .max)
            let batch = state.withLock { state in
                defer { state.pending.removeFirst(min(limit, state.pending.count)) }
                return Array(state.pending.prefix(limit))
            }
            failure?.after -= batch.count
            if !batch.isEmpty {
                try await take(batch)
            } else if let failure {
                throw failure.error
            } else if !state.withLock(\.holdsOpen) {
                return
            } else {
                do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
            }
        }
    }
}
