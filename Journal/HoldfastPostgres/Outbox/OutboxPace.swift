/// Decides when the outbox is looked at next, and how many submissions may be under way. It has no clock.
package struct OutboxPace: Sendable {
    private static let shortest = Duration.milliseconds(20)
    private static let longest = Duration.milliseconds(200)
    private static let longestAfterFailure = Duration.seconds(2)

    private var idle = shortest
    private var failed = shortest
    private var isRefused = false

    package init() {}

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
