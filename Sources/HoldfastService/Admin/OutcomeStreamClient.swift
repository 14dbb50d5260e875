internal import Holdfast
internal import HoldfastControl

/// What one client is told, part by part.
final class OutcomeStreamClient: Sendable {
    /// How long a stream is silent at most. By what it writes then it finds out that the client is gone, and makes room.
    private static let heartbeat = Duration.seconds(5)
    /// Outcomes that are read and written at a time.
    private static let batch = 100

    private let engine: PushEngine
    private let question: OutcomeStreamQuestion
    /// Everything up to here was told; nil before the first part.
    private let cursor = Monitor<OutcomeCursor?>(nil)
    private let start: OutcomeCursor
    /// Whether the client was told that the history is off.
    private let saidOff = Monitor(false)

    init(_ engine: PushEngine, _ question: OutcomeStreamQuestion, from start: OutcomeCursor) {
        (self.engine, self.question, self.start) = (engine, question, start)
    }

    /// - Returns: nil when the engine has ended. What was not told by then, the client asks for with its last id.
    func next() async throws -> [UInt8]? {
        do { return try await part() } catch let error as JournalError where error.code == .closed {
            // Closed behind the engine, sooner than was read on.
            return nil
        }
    }

    private func part() async throws -> [UInt8]? {
        guard var cursor = cursor.withLock({ $0 }) else {
            self.cursor.withLock { $0 = start }
            return EventStreamText.start
        }
        while !Task.isCancelled {
            let hasEnded = engine.outcomesHaveEnded
            let listing = try await engine.desk.outcomes(
                after: cursor, limit: Self.batch, of: question.producers, waitingAtMost: Self.heartbeat)
            let text = try text(of: listing)
            let isAll = listing.end >= listing.newest
            cursor = listing.end
            self.cursor.withLock { [cursor] in $0 = cursor }
            if !text.isEmpty { return text }
            if isAll, saysOff(listing.isKept) { return EventStreamText.off(readTo: cursor) }
            guard isAll else { continue }
            if hasEnded { return nil }
            // What came with the engine's end is read before its own.
            if !engine.outcomesHaveEnded { return EventStreamText.heartbeat(readTo: cursor) }
        }
        return nil
    }

    /// Whether it is to be told now that the history is off: once, until it is on again.
    private func saysOff(_ isKept: Bool) -> Bool {
        saidOff.withLock { saidOff in
            defer { saidOff = !isKept }
            return !isKept && !saidOff
        }
    }

    private func text(of listing: OutcomeListing) throws -> [UInt8] {
        var text: [UInt8] = []
        if listing.missed > 0 || listing.wasOff {
            let first = listing.outcomes.first.map { OutcomeCursor($0.cursor.rawValue - 1) } ?? listing.end
            text += EventStreamText.gap(
                listing.missed, unreadable: listing.unreadable, wasOff: listing.wasOff, upTo: first)
        }
        for outcome in listing.outcomes where question.wants(outcome) { text += try EventStreamText.outcome(outcome) }
        return text
    }
}
