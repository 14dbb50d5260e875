internal import Holdfast
internal import HoldfastControl
internal import Logging
internal import ServiceLifecycle

/// Logs a line for each notification of some topics and tags when it has ended: read from the history, behind the commits, so that
/// it holds up nobody. Of more than so many in a second the rest is counted.
final class FollowedNotifications: Service, Sendable {
    /// The most lines in a second.
    static let greatestRate = 100
    private static let batch = 500
    private static let wait = Duration.seconds(5)
    private static let pause = Duration.seconds(1)

    private let engine: PushEngine
    private let logger: Logger
    private let wanted: Monitor<LogFollow>

    init(_ wanted: LogFollow, engine: PushEngine, logger: Logger) {
        (self.engine, self.logger) = (engine, logger)
        self.wanted = Monitor(wanted)
    }

    /// From now on these, and no others.
    func exchange(_ wanted: LogFollow) { self.wanted.withLock { $0 = wanted } }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var cursor = self.engine.outcomeLog.newest
            var budget = LineBudget(limit: Self.greatestRate)
            while !Task.isCancelled {
                // What ends unread can be found with `holdfast journal find`.
                do { cursor = try await self.look(after: cursor, &budget) } catch is CancellationError { return } catch
                {
                    do { try await Task.sleep(for: Self.pause) } catch { return }
                }
            }
        }
        // The engine ends before this one's turn, and whoever ends before its turn fails the whole group.
        try? await gracefulShutdown()
    }

    private func look(after cursor: OutcomeCursor, _ budget: inout LineBudget) async throws -> OutcomeCursor {
        let wanted = wanted.withLock { $0 }
        guard !wanted.isEmpty else {
            try await Task.sleep(for: Self.pause)
            return engine.outcomeLog.newest
        }
        let listing = try await engine.desk.outcomes(
            after: cursor, limit: Self.batch, of: nil, waitingAtMost: Self.wait)
        for outcome in listing.outcomes where wanted.topics.contains(outcome.topic) || wanted.tags.contains(outcome.tag)
        {
            guard let leftOut = budget.take(at: EngineClock.system.monotonic()) else { continue }
            if leftOut > 0 {
                logger.warning(
                    "\(leftOut) notifications that are followed ended without a line: \(Self.greatestRate) a second are logged",
                    metadata: ["event": "notification-lines-left-out", "left-out": .stringConvertible(leftOut)])
            }
            tell(outcome)
        }
        if listing.end == cursor, engine.outcomesHaveEnded { throw CancellationError() }
        return listing.end
    }

    private func tell(_ outcome: Outcome) {
        let story = OutcomeStory(outcome)
        var metadata: Logger.Metadata = [
            "event": "notification", "uid": .stringConvertible(outcome.uid), "apns-id": .string("\(outcome.id)"),
            "topic": .string(outcome.topic), "outcome": .string(OutcomeForm(outcome, isWhole: false).outcome.rawValue),
            "attempts": .stringConvertible(outcome.history.attempts),
        ]
        if !outcome.tag.isEmpty { metadata["tag"] = .string(TagPause.name(of: outcome.tag)) }
        if let cause = outcome.cause { metadata["reason"] = .string(cause.reason.rawValue) }
        let tag = outcome.tag.isEmpty ? "" : ", tag \(TagPause.name(of: outcome.tag))"
        let words = "notification \(outcome.uid) (\(outcome.topic)\(tag), apns-id \(outcome.id)): \(story.course())"
        logger.info("\(words.printable(maximumLength: 1000))", metadata: metadata)
    }
}

/// So many lines in a second; the rest is counted. A pure machine.
struct LineBudget: Sendable {
    private let limit: Int
    private var second = Duration.zero
    private var taken = 0
    private var leftOut = 0

    init(limit: Int) { self.limit = limit }

    /// - Returns: nil for a line to leave out; else how many were left out since the last one that was not.
    mutating func take(at now: Duration) -> Int? {
        if now >= second + .seconds(1) { (second, taken) = (now, 0) }
        guard taken < limit else {
            leftOut += 1
            return nil
        }
        taken += 1
        defer { leftOut = 0 }
        return leftOut
    }
}
