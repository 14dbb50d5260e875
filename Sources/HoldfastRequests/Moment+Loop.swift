package import Holdfast
package import NIOCore

/// A ``Moment`` by the clock of event loops: deadlines are theirs, and dates are compared with the wall clock.
package struct LoopMoment: Hashable, Sendable {
    package var monotonic: NIODeadline
    package var wall: WallTime

    package init(monotonic: NIODeadline, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

extension LoopMoment {
    /// By the machine's clocks. For drivers: a machine is told the time.
    static var now: LoopMoment { LoopMoment(monotonic: .now(), wall: EngineClock.system.wall()) }
}
