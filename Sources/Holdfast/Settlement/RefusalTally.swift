/// The answers of the last two seconds at most, and what share of them are refusals.
///
/// A pure machine.
struct RefusalTally: Sendable {
    /// So many refusals are no accident any more.
    static let least = 5
    /// So many are no accident even where a third is always refused.
    static let sure = 50
    private static let period = Duration.seconds(1)

    private var now = RouteThrottle.Answers()
    private var before = RouteThrottle.Answers()
    private var since = Duration.zero

    var granted: Int { now.granted + before.granted }
    private var throttled: Int { now.throttled + before.throttled }
    private var refused: Int { now.refused + before.refused }
    private var all: Int { granted + refused }

    mutating func add(_ answers: RouteThrottle.Answers, now time: Duration) {
        if time - since >= Self.period {
            before = time - since < Self.period * 2 ? now : RouteThrottle.Answers()
            now = RouteThrottle.Answers()
            since = time
        }
        now.granted += answers.granted
        now.throttled += answers.throttled
        now.unavailable += answers.unavailable
    }

    /// At least a tenth was throttled.
    var isThrottled: Bool { throttled >= Self.least && throttled * 10 >= all }

    /// A single one was refused beside others.
    var isOne: Bool { granted > 0 && refused <= 1 }

    /// A single one of this many at least was refused.
    func isOne(of count: Int) -> Bool { isOne && all >= count }

    /// Less than a tenth was refused, and hardly more than twice this share.
    func isFew(share: Double) -> Bool {
        refused * 10 < all && Double(refused) <= 2 * share * Double(all) + 1
    }

    /// At least half was refused.
    func isMostlyRefused(least: Int) -> Bool { refused >= least && refused * 2 >= all }
}
