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
}
