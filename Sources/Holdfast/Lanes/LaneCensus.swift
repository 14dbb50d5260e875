/// When to have the journal look whether it finds all that it counts of a lane, and what came of it.
///
/// Damage to a tree may end a reading early, which looks like the end of the lane: only the count tells. The count is
/// compared while the reading is at its end, where it takes little: what is left then is in flight, or deferred.
///
/// A pure machine.
struct LaneCensus: Sendable {
    static let firstPause = Duration.seconds(1)
    static let greatestPause = Duration.seconds(60)

    /// Entries that the last look did not find.
    private(set) var unreachable = 0
    /// When to look next; nil while there is nothing to look for.
    private(set) var next: Duration?
    private var pause = firstPause
    private var depthLastTime: Int?

    /// The lane has nothing to read, as far as it knows.
    ///
    /// - Parameter depth: unconfirmed entries that the journal counts.
    /// - Returns: whether to look now.
    mutating func isDue(depth: Int, now: Duration) -> Bool {
        guard depth > 0 else {
            self = LaneCensus()
            return false
        }
        guard let next else {
            self.next = now + pause
            return false
        }
        return now >= next
    }

    /// - Parameter unreachable: what was found; nil when nothing could be read.
    /// - Returns: whether it is news.
    mutating func looked(unreachable: Int?, depth: Int, now: Duration) -> Bool {
        // Where nothing moves, nothing new can be found often.
        pause = depth == depthLastTime ? min(pause * 2, Self.greatestPause) : Self.firstPause
        depthLastTime = depth
        next = now + pause
        guard let unreachable, unreachable != self.unreachable else { return false }
        self.unreachable = unreachable
        return unreachable > 0
    }
}
