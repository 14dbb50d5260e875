/// Outcomes in the order in which their notifications ended, in batches.
///
///     for try await batch in engine.outcomes {
///         try await store(batch.outcomes)      // tag, apns-id and token say which they are
///         try await batch.taken()              // from now on they are not delivered again
///     }
///
/// Delivery is at least once: a batch that was not taken when the process ends is delivered again, in the same order and with
/// the same ``Outcome/cursor``s. Each reader has a cursor of its own on disk. There may be one loop at a time for each reader;
/// until it has taken a batch, it gets the same one again. The sequence ends with the engine.
public struct Outcomes: AsyncSequence, Sendable {
    let source: OutcomeSource
    let reader: OutcomeSource.Reader

    /// Reads the batches one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: OutcomeSource
        let reader: OutcomeSource.Reader
        var passed = OutcomeSource.Passed()

        /// Waits for outcomes. Returns `nil` when the engine has ended or the task is cancelled.
        ///
        /// - Throws: ``JournalError`` if the journal can't be read, or does not know the reader any more.
        public mutating func next() async throws -> OutcomeBatch? { try await source.next(for: reader, &passed) }
    }

    /// Starts with the oldest outcome that was not taken.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source, reader: reader) }
}

/// A batch of outcomes for one reader.
public struct OutcomeBatch: Sendable {
    /// The outcomes, in the order in which they ended; at least one, at most 1000.
    public let outcomes: [Outcome]
    /// The reader's cursor when the batch is taken. It is beyond the last outcome if those that follow are for others.
    public let end: OutcomeCursor
    /// The number of outcomes, of all Producers, before these that this reader was not given: the log's bounds left no room for
    /// them until it came to them, or they can't be read, since the journal is damaged. For ``PushEngine/outcomes``, for which
    /// they are kept, anything but 0 is damage.
    public let missed: Int
    let reader: String
    let journal: any JournalService

    /// Moves the reader's cursor behind the batch, durably on return. Call it when the application has stored what it needs.
    ///
    /// - Throws: ``JournalError``; the batch is then delivered again.
    public func taken() async throws { try await journal.move(reader, to: end) }
}

extension JournalService {
    /// Moves a reader's cursor, durably on return; `nil` forgets the reader.
    package func move(_ reader: String, to cursor: OutcomeCursor?) async throws {
        try await withCheckedThrowingContinuation { continuation in
            setReader(reader, to: cursor) { result in
                continuation.resume(with: result.mapError { $0 as any Error })
            }
        }
    }
}
