/// When a route is measured: at once, and then at an interval, as long as anything happens or waits. A route at rest is not
/// woken, but once more after the last thing that happened, so that what was measured last is true.
///
/// A pure machine.
struct MeasureSchedule: Sendable {
    private let interval: Duration
    private var last: Duration?
    private var isStale = true

    init(interval: Duration) { self.interval = interval }

    /// When it is time again; nil while nothing changes.
    var next: Duration? { isStale ? last.map { $0 + interval } ?? .zero : nil }

    /// Something may have changed.
    mutating func changed() { isStale = true }

    /// - Returns: whether it is time.
    func isDue(now: Duration) -> Bool {
        guard let next else { return false }
        return next <= now
    }

    /// It was measured.
    ///
    /// - Parameter isAtRest: nothing waits, so nothing grows older either.
    mutating func measured(now: Duration, isAtRest: Bool) {
        last = now
        isStale = !isAtRest
    }
}
