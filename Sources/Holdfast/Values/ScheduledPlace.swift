/// The place of scheduled entries among the deferred ones of a lane: behind all that are deferred, in the order of their times.
///
/// So none comes back with those that are due, or by a clock that was ahead, and who looks only at a place knows what it is.
package enum ScheduledPlace {
    private static let origin: Int64 = 1 << 62
    private static let span: Int64 = 1 << 61

    /// Everything behind this due time is scheduled.
    package static let last = WallTime(milliseconds: origin - 1)

    /// The due time that stands for `time`. No time before 1970 is scheduled for.
    package static func due(for time: WallTime) -> WallTime {
        WallTime(milliseconds: origin + min(max(time.milliseconds, 0), span))
    }

    /// The time that a due time stands for; `nil` if that is not scheduled, but deferred.
    package static func time(of due: WallTime) -> WallTime? {
        (origin...origin + span).contains(due.milliseconds) ? WallTime(milliseconds: due.milliseconds - origin) : nil
    }
}

extension WallTime {
    /// Whether this due time stands for a time that an entry is scheduled for.
    package var isScheduled: Bool { ScheduledPlace.time(of: self) != nil }
}
