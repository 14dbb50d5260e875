/// Says whether the wall clock may be believed about expirations.
///
/// What has expired is settled for good; a clock that jumps a year ahead would end every entry so. After a step of more
/// than ``tolerance`` against the monotonic clock, and at a start before the last time the journal knows of, expirations
/// are not acted upon for ``distrust``: by then either somebody has mended the clock, which is another step, or it is
/// right as it is.
///
/// A pure machine.
struct WallClockGuard: Sendable {
    static let tolerance = Duration.seconds(5 * 60)
    static let distrust = Duration.seconds(10 * 60)

    private var last: (wall: WallTime, monotonic: Duration)?
    private(set) var distrustedUntil: Duration?

    /// - Parameter wallTimeAtOpen: the last time that the journal knows of.
    init(wallTimeAtOpen: WallTime?) { startsAfter = wallTimeAtOpen }

    private var startsAfter: WallTime?

    /// - Returns: what to warn of, when there is news.
    mutating func look(wall: WallTime, monotonic: Duration) -> String? {
        defer { last = (wall, monotonic) }
        if let until = distrustedUntil, monotonic >= until { distrustedUntil = nil }
        if let start = startsAfter {
            startsAfter = nil
            // A second is what the slewing of a healthy clock may take back.
            if wall.advanced(by: .seconds(1)) < start {
                distrustedUntil = monotonic + Self.distrust
                return "the clock is \(start.since(wall)) behind the time at which the journal was last written"
            }
        }
        guard let last else { return nil }
        let step = wall.since(last.wall) - (monotonic - last.monotonic)
        guard step > Self.tolerance || step < .zero - Self.tolerance else { return nil }
        distrustedUntil = monotonic + Self.distrust
        return "the clock was set by \(step)"
    }

    var isTrusted: Bool { distrustedUntil == nil }
}
