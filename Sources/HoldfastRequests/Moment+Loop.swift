internal import Holdfast
internal import NIOCore

extension Moment {
    /// The current time on an event loop: its monotonic time is the loop's own, so that ``NIODeadline/init(_:)`` gives the
    /// deadline for a time that a session has named. For drivers: a session is told the time.
    static var onLoop: Moment {
        let uptime = Int64(clamping: NIODeadline.now().uptimeNanoseconds)
        return Moment(monotonic: .nanoseconds(uptime), wall: EngineClock.system.wall())
    }
}

extension NIODeadline {
    /// The deadline at a monotonic time of ``Moment/onLoop``.
    init(_ monotonic: Duration) { self = .uptimeNanoseconds(0) + TimeAmount(monotonic) }
}
