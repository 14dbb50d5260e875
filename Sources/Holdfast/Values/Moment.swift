/// One reading of both clocks.
///
/// Waits are counted by the monotonic clock, which nobody sets. The wall clock says when entries expire and are due, and
/// what people are told.
package struct Moment: Hashable, Sendable {
    /// Since any fixed time; it never goes back.
    package let monotonic: Duration
    package let wall: WallTime

    package init(monotonic: Duration, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// How far two clocks that are read at two instants may be apart.
    private static let tolerance = Duration.seconds(2)

    /// The wall clock's time of an instant. What was said of it before stays, unless the clock was set since.
    func wallTime(of instant: Duration, before: WallTime?) -> WallTime {
        let time = wall.advanced(by: instant - monotonic)
        guard let before else { return time }
        let difference = time.since(before)
        return difference > Self.tolerance || difference < .zero - Self.tolerance ? time : before
    }
}

extension WallTime? {
    /// The time, if it has not come yet.
    package func upcoming(at now: WallTime) -> WallTime? { flatMap { $0 > now ? $0 : nil } }
}
