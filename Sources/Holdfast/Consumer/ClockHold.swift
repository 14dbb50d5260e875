/// Remembers until when entries of each lane were deferred because the wall clock was distrusted, so that exactly those come
/// back when the opinion of the clock changes: with a clock that was ahead, and has been mended, their due times lie far off.
///
/// All entries that are held in one period of distrust have the same due time. A pure machine.
struct ClockHold: Sendable {
    /// How many periods are remembered for a lane. What is forgotten comes back when it is due, or as stranded.
    static let greatestCalls = 8
    /// So long behind the end of the distrust entries are due, so that nothing is looked at in vain.
    static let margin = Duration.seconds(1)

    private var period: (distrustedUntil: Duration, due: WallTime, lanes: Set<Int>)?
    /// Due times to bring back, by lane.
    private var calls: [Int: [WallTime]] = [:]

    /// To be told of each look at the clock.
    ///
    /// - Returns: whether the clock is trusted again just now.
    mutating func look(distrustedUntil: Duration?, wasDistrusted: Bool) -> Bool {
        if let period, period.distrustedUntil != distrustedUntil { end(period) }
        return wasDistrusted && distrustedUntil == nil
    }

    /// An entry of the lane has to wait for the end of the distrust.
    ///
    /// - Returns: its due time, later than `wall`.
    mutating func hold(lane: Int, distrustedUntil: Duration, now: Duration, wall: WallTime) -> WallTime {
        let wait = max(distrustedUntil - now, .zero) + Self.margin
        // Two steps at once end the distrust at the same time, which is another one by the wall clock.
        let greatest = wall.advanced(by: wait + WallClockGuard.tolerance)
        if let period, period.distrustedUntil != distrustedUntil || period.due <= wall || period.due > greatest {
            end(period)
        }
        var current = period ?? (distrustedUntil, unused(wall.advanced(by: wait)), [])
        current.lanes.insert(lane)
        period = current
        return current.due
    }

    /// A due time that nothing is called back by: what is called and has to wait again would be called once more.
    private func unused(_ due: WallTime) -> WallTime {
        var due = due
        while calls.values.contains(where: { $0.contains(due) }) { due = WallTime(milliseconds: due.milliseconds + 1) }
        return due
    }

    /// What of the lane is to be brought back: entries that are due at exactly this time.
    func call(lane: Int) -> WallTime? { calls[lane]?.first }

    /// The journal has brought back so many of them; none left when that is 0.
    mutating func called(_ due: WallTime, lane: Int, count: Int) {
        guard count == 0 else { return }
        calls[lane]?.removeAll { $0 == due }
        if calls[lane]?.isEmpty == true { calls[lane] = nil }
    }

    private mutating func end(_ ended: (distrustedUntil: Duration, due: WallTime, lanes: Set<Int>)) {
        for lane in ended.lanes {
            calls[lane, default: []].append(ended.due)
            if calls[lane, default: []].count > Self.greatestCalls { calls[lane]?.removeFirst() }
        }
        period = nil
    }
}

extension Consumer {
    /// Has what was deferred for a distrusted clock brought back when the opinion of the clock has changed.
    func lookAtClockHold(wasDistrusted: Bool, now: Duration) {
        guard clockHold.look(distrustedUntil: clockReading.distrustedUntil, wasDistrusted: wasDistrusted) else {
            return
        }
        // What an earlier process has deferred by a clock that was ahead is not known by its time.
        for lane in lanes.indices { strandedLookAt[lane] = now }
    }

    func callBackForClock(in isTurn: (Int) -> Bool) {
        for lane in lanes.indices where isTurn(lane) {
            guard let due = clockHold.call(lane: lane), canPromote(lane) else { continue }
            let before = WallTime(milliseconds: due.milliseconds - 1)
            guard promote(lane, after: before, through: due) else { continue }
            clockCalls[lane] = due
            haveHadDue.remove(lane)
        }
    }

    /// Whether something that the clock has held back is worth a connection.
    var clockWantsConnection: Bool { lanes.indices.contains { clockHold.call(lane: $0) != nil && canPromote($0) } }
}
