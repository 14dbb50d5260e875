/// The outcomes of a part of the log, for a reader that keeps its own cursor.
package struct OutcomeStretch: Hashable, Sendable {
    /// In the order in which they ended.
    package let outcomes: [Outcome]
    /// Where to go on.
    package let end: OutcomeCursor
    /// The number of outcomes between the start and ``end`` that are not there: deleted for the log's bounds, or unreadable.
    package let missed: Int

    init(_ page: OutcomePage, after cursor: OutcomeCursor) {
        outcomes = page.outcomes
        end = page.end
        missed = Int(clamping: page.end.rawValue - cursor.rawValue) - page.outcomes.count
    }
}

/// What came of waiting for outcomes.
package enum OutcomeArrival: Hashable, Sendable {
    case outcomes(OutcomeStretch)
    /// None came in the time that they were waited for.
    case nothing
    /// The engine has ended, and the log was read to its end; or the task is cancelled.
    case ended
}

/// How far a reader has come, and what keeps it from going on, as it says itself.
package struct ReaderReport: Hashable, Sendable {
    /// Everything up to here was read, also where that is not durable yet.
    package var cursor: OutcomeCursor
    /// For operators; nil while all is well.
    package var trouble: String?

    package init(cursor: OutcomeCursor, trouble: String? = nil) {
        self.cursor = cursor
        self.trouble = trouble
    }
}
