/// Remembers until when entries of each lane were deferred because the wall clock was distrusted, so that exactly those come
/// back when the opinion of the clock changes: with a clock that was ahead, and has been mended, their due times lie far off.
///
/// All entries that are held in one period of distrust have the same due time, which lies far beyond it. Whoever holds them
/// does not wait for it; and another process, which knows nothing of the period, finds them where no backoff puts anything
/// (``LaneDeferral``), by whichever clock it looks.
///
/// A pure machine.
struct ClockHold: Sendable {
    /// The most periods remembered for a lane. Entries of a forgotten one come back when they are due, or as stranded.
    static let greatestCalls = 8
    /// So far ahead of the clock entries are due.
    static let distance = Duration.seconds(86_400)

    private var period: (distrustedUntil: Duration, due: WallTime, lanes: Set<Int>, count: Int)?
    /// Due times to bring back, by lane.
    private var calls: [Int: [WallTime]] = [:]

    /// To be told of each look at the clock.
    mutating func look(distrustedUntil: Duration?) {
        if let period, period.distrustedUntil != distrustedUntil { end(period) }
    }

    /// An entry of the lane has to wait for the end of the distrust.
    ///
    /// - Returns: its due time, later than `wall`.
    mutating func hold(lane: Int, distrustedUntil: Duration, wall: WallTime) -> WallTime {
        // Two steps at once end the distrust at the same time. The first of them was another clock.
        let greatest = wall.advanced(by: Self.distance + WallClockGuard.tolerance)
        if let period, period.distrustedUntil != distrustedUntil || period.due <= wall || period.due > greatest {
            end(period)
        }
        var current = period ?? (distrustedUntil, unused(wall.advanced(by: Self.distance)), [], 0)
        current.lanes.insert(lane)
        current.count += 1
        period = current
        return current.due
    }

    /// A due time that nothing is called back by: what is called and has to wait again would be called once more.
    private func unused(_ due: WallTime) -> WallTime {
        var due = due
        while calls.values.contains(where: { $0.contains(due) }) { due = WallTime(milliseconds: due.milliseconds + 1) }
        return due
    }

    /// Entries that were held in this period.
    var count: Int { period?.count ?? 0 }

    /// When all that is held now is due; nil while nothing is.
    var due: WallTime? { period?.due }

    /// The due time of the lane's entries to bring back: exactly this time.
    func call(lane: Int) -> WallTime? { calls[lane]?.first }

    /// The journal has brought back so many of them; none left when that is 0.
    mutating func called(_ due: WallTime, lane: Int, count: Int) {
        guard count == 0 else { return }
        calls[lane]?.removeAll { $0 == due }
        if calls[lane]?.isEmpty == true { calls[lane] = nil }
    }

    private mutating func end(_ ended: (distrustedUntil: Duration, due: WallTime, lanes: Set<Int>, count: Int)) {
        for lane in ended.lanes {
            calls[lane, default: []].append(ended.due)
            if calls[lane, default: []].count > Self.greatestCalls { calls[lane]?.removeFirst() }
        }
        period = nil
    }
}
