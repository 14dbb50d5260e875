/// Decides when the outbox is looked at next, and how many and how large submissions may be. It has no clock.
package struct OutboxPace: Sendable {
    private static let shortest = Duration.milliseconds(20)
    private static let longest = Duration.milliseconds(200)
    private static let longestAfterFailure = Duration.seconds(2)
    /// So many rows have room in an eighth of the smallest journal.
    private static let leastPart = 8

    private var idle = shortest
    private var failed = shortest
    private var isRefused = false
    private let batch: Int
    /// The most rows of a submission. Fewer behind one that had no room: a batch may be larger than a journal with a small limit.
    package private(set) var part: Int

    /// - Parameter batch: the most rows of a submission, ever.
    package init(batch: Int = 1000) {
        self.batch = max(batch, 1)
        part = self.batch
    }

    /// A submission had no room in the journal.
    package mutating func hadNoRoom() { part = max(part / 2, min(Self.leastPart, batch)) }

    /// A submission was taken: the next may be larger, and what was refused beside it need not wait long.
    package mutating func wasTaken() {
        part = min(part * 2, batch)
        failed = Self.shortest
    }

    /// The most submissions without an answer. Behind a refusal it is one, so that nothing is claimed before it is known whether the
    /// journal takes what it has refused.
    package var mostUnderWay: Int { isRefused ? 1 : 2 }

    /// Nothing is left of what was refused for now.
    package mutating func nothingWaits() { isRefused = false }

    /// Something was claimed: the next look is at once.
    package mutating func found() {
        idle = Self.shortest
        failed = Self.shortest
    }

    /// - Returns: the pause behind a look that found nothing.
    package mutating func foundNothing() -> Duration {
        failed = Self.shortest
        defer { idle = min(idle * 2, Self.longest) }
        return idle
    }

    /// - Returns: the pause after a call that failed, or a submission that was refused for now.
    package mutating func wasRefused() -> Duration {
        isRefused = true
        defer { failed = min(failed * 2, Self.longestAfterFailure) }
        return failed
    }
}
