/// Brings deferred entries back into their lanes: what is due, what waited for its topic or for the clock, and what a clock
/// that was ahead has stranded.
final class Promotions {
    /// The purpose of a lane's promotion in progress.
    enum Errand {
        case due
        case scheduled
        case stranded
        case topic(TopicHold.Call)
        /// Of tags that are paused no more.
        case tag
        /// Held for the clock, and due then.
        case clock(WallTime)

        var isOfScheduled: Bool { if case .scheduled = self { true } else { false } }
    }

    let context: RouteContext
    let lanes: LaneTable
    private let connections: Connections
    let judge: RouteJudge
    let places: Places
    let shutdown: Shutdown
    /// By lane; one at a time for each.
    private var errands: [Int: Errand] = [:]

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge, _ places: Places,
        _ shutdown: Shutdown
    ) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
        self.places = places
        self.shutdown = shutdown
    }

    /// Brings deferred entries back that are due. Once before the hand-outs of a turn; for lanes whose last promotion has
    /// just ended, after them: promotions that follow each other without a gap would hold up what is ahead of the reading.
    func bringBack(now: Duration) {
        let later = lanes.indices.filter { lanes[$0].deferral.hasJustReturned }
        for index in later { lanes[index].deferral.hasJustReturned = false }
        guard !connections.pool.active.isEmpty, places.holdReason == nil, !context.ending.isOver else { return }
        // First, as seldom as that is: what is due again and again would take the only place each time.
        bringBackStranded(but: later, now: now)
        // In turn with what is called back, which would otherwise wait for ever for the only place beside it.
        callBack { lanes[$0].deferral.hadItsTurn && !later.contains($0) }
        for lane in lanes.indices where !later.contains(lane) && canPromote(lane) {
            let deferral = lanes[lane].deferral
            let (due, earliest) = (deferral.isDue(now) ? deferral.due : nil, judge.clock.earliest)
            // In turn, so that what is due again and again does not hold up what is scheduled, nor the other way round.
            if deferral.isScheduledDue(earliest: earliest, now: now), due == nil || !deferral.scheduledHadTurn {
                bringBackScheduled(lane, through: earliest)
            } else if let due, promote(lane, through: max(context.clock.wall(), due.wall), for: .due) {
                lanes[lane].deferral.hadItsTurn = true
                lanes[lane].deferral.scheduledHadTurn = false
            }
        }
        callBack { !later.contains($0) }
    }

    private func bringBackScheduled(_ lane: Int, through earliest: WallTime) {
        guard
            promote(lane, after: ScheduledPlace.last, through: ScheduledPlace.due(for: earliest), for: .scheduled)
        else { return }
        lanes[lane].deferral.hadItsTurn = true
        lanes[lane].deferral.scheduledHadTurn = true
    }

    private func bringBackStranded(but later: [Int], now: Duration) {
        // Beyond that lie the places of topics.
        let end = WallTime(milliseconds: TopicHold.firstDue.milliseconds - 1)
        for lane in lanes.indices where !later.contains(lane) {
            guard lanes[lane].deferral.looksForStranded(now), canPromote(lane) else { continue }
            let (after, through) = lanes[lane].deferral.strandedRange(
                latest: latestDue, held: judge.clockHold.due, end: end)
            if promote(lane, after: after, through: through, for: .stranded) {
                lanes[lane].deferral.lookForStranded(from: now + judge.greatestWait)
            }
        }
    }

    /// No backoff of now is due later. A clock that was set back by a little is believed, and strands nothing.
    var latestDue: WallTime {
        context.clock.wall().advanced(by: judge.greatestWait + WallClockGuard.tolerance)
    }

    /// Brings back what has waited for the clock, for its topic, or for its tag.
    private func callBack(in isTurn: (Int) -> Bool) {
        for lane in lanes.indices where isTurn(lane) { callBackForClock(lane) }
        for lane in lanes.indices where isTurn(lane) { callBackForTopics(lane) }
        for lane in lanes.indices where isTurn(lane) { callBackForTags(lane) }
    }

    private func callBackForClock(_ lane: Int) {
        guard let due = judge.clockHold.call(lane: lane), canPromote(lane) else { return }
        let before = WallTime(milliseconds: due.milliseconds - 1)
        guard promote(lane, after: before, through: due, for: .clock(due)) else { return }
        lanes[lane].deferral.hadItsTurn = false
    }

    /// Brings back entries of topics that the service takes again, and one entry of each topic to probe.
    private func callBackForTopics(_ lane: Int) {
        guard judge.topicHold.mayCall(lane: lane), canPromote(lane),
            let call = judge.topicHold.call(lane: lane, limit: places.promotionLimit(lane)),
            !call.isForProbe || judge.againCount(in: lane) == 0,
            promote(lane, after: call.after, through: call.through, limit: call.limit, for: .topic(call))
        else { return }
        lanes[lane].deferral.hadItsTurn = false
    }

    /// Whether deferred entries of the lane may come back now.
    func canPromote(_ lane: Int) -> Bool {
        lanes[lane].handsOut && !lanes[lane].machine.isPromoting && !triesNew(lane)
            && places.promotionLimit(lane) > 0
    }

    /// Whether the next probe of a stopped lane is an entry that was never handed out: in turn with those that were, so that
    /// a few that are refused for their own sake do not take all probes.
    private func triesNew(_ lane: Int) -> Bool {
        lanes[lane].isStopped && lanes[lane].probe.failures % 2 == 1 && lanes[lane].machine.hasForwardWork
    }

    /// Whether outcomes leave room for what comes back in the lane.
    func hasRoomForOutcomes(_ lane: Int) -> Bool { !lanes[lane].hasOneAttempt || places.haveRoomForOutcomes }

    /// Has the journal bring back what is due above `after` and up to `through`.
    ///
    /// - Returns: whether that has begun. For a lane with one attempt there may be no room for the outcomes.
    func promote(
        _ lane: Int, after: WallTime? = nil, through: WallTime, limit greatest: Int = .max, for errand: Errand
    ) -> Bool {
        var limit = min(places.promotionLimit(lane), greatest)
        if lanes[lane].hasOneAttempt {
            // What comes back keeps its places, so each must have room for its outcome.
            limit = context.gate.reserve(
                limit, route: context.index, inFlight: places.taken, waiting: context.journal.unreadOutcomeCount)
            guard limit > 0 else {
                if lanes.keptPlaces() == 0 { context.holds.outcomesAreFull = true }
                return false
            }
        }
        lanes[lane].machine.beginPromotion(places: limit, ofScheduled: errand.isOfScheduled)
        errands[lane] = errand
        judge.throttle.callBack(limit)
        context.journal.promoteDue(lanes[lane].id, after: after, now: through, limit: limit) {
            [inbox = context.inbox] result in inbox.post { $0.promoted.append((lane, result)) }
        }
        return true
    }

    /// The journal has brought entries back, or could not.
    func take(_ promoted: [(lane: Int, result: Result<[UID], JournalError>)], at now: Moment) {
        for (lane, result) in promoted {
            lanes[lane].machine.endPromotion()
            lanes[lane].deferral.hasJustReturned = true
            let errand = errands.removeValue(forKey: lane)
            switch result {
            case .success(let uids):
                if !uids.isEmpty { context.tell(.promoted(lanes[lane].key, uids)) }
                lanes[lane].machine.promoted(uids)
                if judge.caution.hasSuspects { judge.caution.returned(uids.map { lanes.key(lane, $0) }) }
                if lanes[lane].hasOneAttempt { lanes.share.charge(uids.count, to: lane) }
                conclude(errand, lane: lane, count: uids.count, now: now.monotonic)
                refresh(lane, at: now)
            case .failure(let error) where error.isFatal: shutdown.fail(error)
            case .failure(let error):
                context.tell(.failed(.promoting, error))
                lanes[lane].deferral.failed(tryingAgainAt: now.monotonic + context.configuration.settlementRetry)
            }
        }
    }

    /// There may be more than came back at once.
    private func conclude(_ errand: Errand?, lane: Int, count: Int, now: Duration) {
        switch errand {
        case .stranded?:
            lanes[lane].deferral.lookedForStranded(found: count, isHeld: judge.clockHold.due != nil, now: now)
        case .clock(let due)?: judge.clockHold.called(due, lane: lane, count: count)
        case .topic(let call)?: judge.topicHold.called(call, lane: lane, count: count)
        case .tag?: judge.tagHold.called(lane: lane, count: count)
        case .due?, .scheduled?, nil: break
        }
    }

    // MARK: Connections, and time

    /// Whether what is to come back is worth a connection.
    func wantConnection(now: Duration) -> Bool {
        let latest = latestDue
        return lanes.indices.contains { lane in
            let deferral = lanes[lane].deferral
            let isWanted =
                deferral.isDue(now) || deferral.isScheduledDue(earliest: judge.clock.earliest, now: now)
                || judge.topicHold.wantsConnection(lane: lane)
                || judge.clockHold.call(lane: lane) != nil || judge.tagHold.call(lane: lane) != nil
                || deferral.isStranded(latest: latest, now: now)
            return isWanted && canPromoteOnceConnected(lane)
        }
    }

    private func canPromoteOnceConnected(_ lane: Int) -> Bool {
        canPromote(lane) || lanes[lane].machine.remedy == .connection
    }

    /// When a deferred entry falls due that is something to act upon: by bringing it back, or by connecting for it.
    func nextLook(now: Duration) -> Duration? {
        // While hand-out holds nothing is brought back: what ends the holding brings news, or has a time of its own.
        guard places.holdReason == nil, !connections.pool.isAway else { return nil }
        var looks: [Duration] = []
        for lane in lanes.indices where canPromoteOnceConnected(lane) {
            guard hasRoomForOutcomes(lane) else { continue }
            let scheduled = lanes[lane].deferral.nextScheduledLook(earliest: judge.clock.earliest, now: now)
            if let scheduled { looks.append(scheduled) }
            guard let due = lanes[lane].deferral.due else { continue }
            looks.append(due.monotonic)
            if !connections.pool.active.isEmpty { looks.append(lanes[lane].deferral.strandedLookAt) }
        }
        return looks.min()
    }
}
