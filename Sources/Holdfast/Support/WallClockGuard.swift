/// Says how far the wall clock may be believed.
///
/// A notification that expired, or grew too old, is ended for good; rejections that grew too old are deleted; and a sender
/// whose expiration is past is refused. A clock that jumps a year ahead would do all of that to everything. So the clock is
/// distrusted for ``distrust`` after a step of more than ``tolerance`` against the monotonic clock, and after a start that
/// lies before the last time the journal knows of, or more than ``tolerance`` behind it: by then either somebody has mended
/// the clock, which is another step, or it is right as it is. (A start long after the journal's last time is mostly a
/// service that was down for as long. That looks like a clock that is ahead, and waiting harms neither.)
///
/// While the clock is doubted because it is behind what it said before, nobody knows which of the two is right. The journal
/// is told so (``unknown``), and a start in that state doubts the clock whatever it says.
///
/// A pure machine.
struct WallClockGuard: Sendable {
    static let tolerance = Duration.seconds(5 * 60)
    static let distrust = Duration.seconds(10 * 60)
    /// The last time in the journal, if it is unknown whether the clock was right.
    static let unknown = WallTime(milliseconds: 1)

    /// News about the clock, for people.
    enum Remark: Hashable, Sendable {
        /// The clock was set, or is behind what the journal knows.
        case warning(String)
        /// The journal was last written a while before the start.
        case unproven(String)
    }

    private var last: (wall: WallTime, monotonic: Duration)?
    private(set) var distrustedUntil: Duration?
    /// How far the clock may be ahead.
    private var doubt = Duration.zero
    private var startsAfter: WallTime?
    /// The time that the journal is to store as its last one; nil leaves the one that it has.
    private(set) var memory: WallTime?

    /// - Parameter wallTimeAtOpen: the last time that the journal knows of.
    init(wallTimeAtOpen: WallTime?) { startsAfter = wallTimeAtOpen }

    /// To be told of the time again and again.
    ///
    /// - Returns: what to tell people, when there is news.
    mutating func look(wall: WallTime, monotonic: Duration) -> Remark? {
        defer {
            last = (wall, monotonic)
            if isTrusted { memory = wall }
        }
        if let until = distrustedUntil, monotonic >= until { (distrustedUntil, doubt) = (nil, .zero) }
        if let start = startsAfter {
            startsAfter = nil
            return began(wall, after: start, monotonic: monotonic)
        }
        guard let last else { return nil }
        let step = wall.since(last.wall) - (monotonic - last.monotonic)
        guard step > Self.tolerance || step < .zero - Self.tolerance else { return nil }
        distrust(from: monotonic, ahead: max(doubt + step, .zero), isBehind: step < .zero)
        let isBack = step < .zero
        return .warning("the clock was set \(isBack ? "back" : "ahead") by \((isBack ? .zero - step : step).words)")
    }

    private mutating func began(_ wall: WallTime, after start: WallTime, monotonic: Duration) -> Remark? {
        guard start != Self.unknown else {
            distrust(from: monotonic, ahead: wall.since(start), isBehind: true)
            return .warning(
                "the clock was set back, or found behind the journal, shortly before the last process ended")
        }
        // A second is what the slewing of a healthy clock may take back.
        if wall.advanced(by: .seconds(1)) < start {
            distrust(from: monotonic, ahead: .zero, isBehind: true)
            return .warning(
                "the clock is \(start.since(wall).words) behind the time at which the journal was last written")
        }
        let gap = wall.since(start)
        guard gap > Self.tolerance else { return nil }
        distrust(from: monotonic, ahead: gap, isBehind: false)
        return .unproven("the journal was last written \(gap.words) before this start, if the clock is right")
    }

    /// - Parameters:
    ///   - doubt: how far the clock may be ahead.
    ///   - isBehind: whether it is, or may be, behind what it said before.
    private mutating func distrust(from monotonic: Duration, ahead doubt: Duration, isBehind: Bool) {
        distrustedUntil = monotonic + Self.distrust
        self.doubt = doubt
        if isBehind { memory = Self.unknown }
    }

    var isTrusted: Bool { distrustedUntil == nil }

    /// The earliest possible present time, while the clock says `wall`: for actions that cannot be undone.
    func earliest(_ wall: WallTime) -> WallTime { wall.advanced(by: .zero - doubt) }
}
