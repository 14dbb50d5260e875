package import Holdfast
package import NIOCore

/// A point in time by both clocks: waiting is measured by the monotonic one, dates are compared with the wall clock.
package struct Moment: Hashable, Sendable {
    package var monotonic: NIODeadline
    package var wall: WallTime

    package init(monotonic: NIODeadline, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

extension Moment {
    /// By the machine's clocks. For drivers: a machine is told the time.
    static var now: Moment { Moment(monotonic: .now(), wall: EngineClock.system.wall()) }
}
