/// Decides when the outbox is looked at next. It has no clock.
package struct OutboxPace: Sendable {
    private static let shortest = Duration.milliseconds(20)
    private static let longest = Duration.milliseconds(200)
    private static let longestAfterFailure = Duration.seconds(2)

    private var idle = shortest
    private var failed = shortest

    package init() {}

    /// Something was claimed, or submitted again: the next look is at once.
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
        defer { failed = min(failed * 2, Self.longestAfterFailure) }
        return failed
    }
}
