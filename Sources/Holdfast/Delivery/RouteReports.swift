/// Reports on a route at the end of each turn: its status, its levels, and the periodic report.
final class RouteReports {
    private let context: RouteContext
    private let lanes: LaneTable
    private let connections: Connections
    private let judge: RouteJudge
    private let places: Places
    private(set) var reports: ReportInterval
    /// The lanes as last published to the status board.
    private var publishedLanes: [StatusBoard.LaneSummary] = []
    private var publishedTopics: [TopicHold.Status] = []
    private var publishedHold: HoldReason?
    private var publishedThrottle: EngineStatus.Throttle?
    /// The next attempt to connect, by both clocks.
    private var nextConnection: Moment?

    init(
        _ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ judge: RouteJudge, _ places: Places,
        reports: ReportInterval
    ) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.judge = judge
        self.places = places
        self.reports = reports
    }

    func change(isInCharge: Bool) {
        reports.change(to: context.configuration.reportInterval, isInCharge: isInCharge)
    }

    /// This Consumer reports for the engine from now on, and goes on where another one was.
    func takeCharge(_ reports: ReportInterval) {
        self.reports = reports
        change(isInCharge: true)
    }

    /// When to come back for a measurement, a report, or a condition that was not told yet.
    var nextLook: Duration? {
        [
            context.teller.observer.nextMeasurement, reports.next, context.teller.conditions.nextTelling,
            context.teller.withdrawn.nextTelling,
        ]
        .compactMap { $0 }.min()
    }

    // MARK: Status

    /// - Parameters:
    ///   - rest: why there is nothing to do; nil when there is.
    ///   - answersNudge: whether this turn answers a request for the state.
    func publish(rest: EngineRest?, answersNudge: Bool) {
        let statuses = lanes.indices.map { index in
            StatusBoard.LaneSummary(
                key: lanes[index].key, state: lanes[index].machine.state, nextProbeAt: lanes[index].probe.nextAt,
                unreachable: lanes[index].census.unreachable, isYetToBeProbed: isYetToBeProbed(index),
                stop: lanes[index].machine.stopKind)
        }
        let changed = statuses != publishedLanes
        if changed { publishedLanes = statuses }
        let topics = judge.topicHold.isEmpty ? [] : topicsSetAside
        let topicsChanged = topics != publishedTopics
        if topicsChanged { publishedTopics = topics }
        let hold = context.ending.isOver || context.ending.hasBegun ? nil : holdReason
        let holdChanged = hold != publishedHold
        if holdChanged {
            publishedHold = hold
            context.tell(.holding(hold))
        }
        // Of a topic and a throttle it matters what waits, too, which changes without them.
        let mayBeOther = !topics.isEmpty || judge.throttled != nil
        let isOther = changed || topicsChanged || holdChanged || judge.throttled != publishedThrottle || mayBeOther
        publishedThrottle = judge.throttled
        context.teller.tellWithdrawn(isLast: context.ending.isOver || context.ending.hasBegun)
        context.teller.board.publish(
            route: context.name,
            StatusBoard.RouteState(
                inFlight: connections.inFlight, suspects: judge.breakers.heldCount,
                connections: (connections.pool.active.count, connections.pool.limit), holding: hold,
                throttle: judge.throttled, parking: hold == .parked ? context.holds.parking : nil,
                lanes: changed ? statuses : nil, topics: topicsChanged ? topics : nil,
                conditions: conditions(isOther: isOther), rest: rest, answersNudge: answersNudge))
    }

    /// What is wrong with the route; nil when that is what it was. A route that ends says nothing more: what is wrong is not over.
    private func conditions(isOther: Bool) -> [HealthCondition]? {
        guard !context.ending.isOver, !context.ending.hasBegun else { return nil }
        let brakes = RouteConditions.Brakes(
            isLimited: connections.pool.isLimited || untoldProbeAt != nil, isCareful: judge.caution.isCareful,
            hasWork: context.connector.confirmationMode == .perNotification && context.route.rate == nil
                && lanes.contains { $0.isRunning && $0.hasWork },
            hasEntries: { self.lanes.indices.contains { self.lanes[$0].isRunning && self.hasEntries($0) } })
        return context.teller.conditions.look(isOther: isOther, answers, brakes) {
            RouteFindings(
                route: context.name, endpoint: context.connector.endpoint,
                advice: context.connector.limits.service?.advice, nextConnectionAt: nextConnectionAt() ?? untoldProbeAt,
                carefulLimit: judge.caution.limit, lanes: publishedLanes, topics: publishedTopics,
                throttle: judge.throttled, isThrottleIdle: judge.throttle.isHolding && !waitsForThrottle,
                parking: publishedHold == .parked ? context.holds.parking : nil, hold: publishedHold)
        } depth: { key in
            lanes.first { $0.key == key }.map { context.journal.depth($0.id) } ?? 0
        }
    }

    /// Topics that are set aside, with where their entries wait.
    private var topicsSetAside: [TopicHold.Status] {
        judge.topicHold.statuses.map { status in
            var status = status
            for (lane, places) in judge.topicHold.places(of: status.topic) { status.places[lanes[lane].id] = places }
            return status
        }
    }

    /// Whether anything would go if the service did not throttle the route. What waits for a topic or a tag would not, and
    /// neither would anything of a lane that stands still.
    private var waitsForThrottle: Bool {
        connections.inFlight > 0
            || lanes.indices.contains { index in
                guard lanes[index].handsOut, context.journal.depth(lanes[index].id) > 0 else { return false }
                return lanes[index].deferral.due != nil || judge.topicHold.hidesEntries
                    || lanes[index].hasWork && hasEntries(index)
            }
    }

    /// Whether the journal has something of the lane that is not deferred. What lies ahead of the reading may have been taken back.
    private func hasEntries(_ index: Int) -> Bool {
        do throws(JournalError) {
            return try !context.journal.unconfirmed(lanes[index].id, after: .none, through: .max, limit: 1).isEmpty
        } catch {
            return true
        }
    }

    /// How many requests have an answer, and how many have none.
    private var answers: RouteConditions.Answers {
        RouteConditions.Answers(
            out: connections.links.values.reduce(0) { $0 + $1.flights.window.unanswered }, count: judge.answerCount,
            isExplained: { [connections, judge] in
                guard !judge.topicHold.isEmpty else { return false }
                return connections.links.values.allSatisfy { link in
                    link.flights.window.isEachUnanswered { topic in
                        judge.breakers.name(of: topic).map { judge.topicHold.isSetAside($0, for: .silence) } ?? false
                    }
                }
            })
    }

    /// When a connection may be made that waits for its time; nil where none waits.
    /// When a connection is made for a topic of which nobody is told, whose probe waits until connections are plenty; nil where there
    /// is a connection, or nothing waits for that.
    private var untoldProbeAt: WallTime? {
        connections.pool.active.isEmpty && judge.topicHold.hidesEntries ? judge.topicHold.yieldsUntil : nil
    }

    private func nextConnectionAt() -> WallTime? {
        guard connections.pool.active.isEmpty, let next = connections.pool.nextAttempt else {
            nextConnection = nil
            return nil
        }
        let before = nextConnection?.monotonic == next ? nextConnection?.wall : nil
        let time = context.clock.moment().wallTime(of: next, before: before)
        nextConnection = Moment(monotonic: next, wall: time)
        return time
    }

    /// Why the route hands out nothing, for others to read: a probe that is under way is no end of the pause.
    private var holdReason: HoldReason? {
        if let reason = places.holdReason { return reason }
        return judge.throttle.isHolding && lanes.contains { context.journal.depth($0.id) > 0 } ? .throttled : nil
    }

    /// Why there is nothing to do, when all that was decided is on disk; nil when there is.
    var rest: EngineRest? {
        guard connections.inFlight == 0, !lanes.isPromoting else { return nil }
        var reason: String?
        var damage: String?
        for index in lanes.indices {
            let lane = lanes[index]
            let depth = context.journal.depth(lane.id)
            if depth == 0 { continue }
            if lane.census.unreachable >= depth {
                damage = damage ?? EngineRest.unreachableWords(depth, of: lane.key)
                continue
            }
            guard
                let why = topicReason(index) ?? scheduleReason(index) ?? tagReason(index)
                    ?? lane.machine.state.standsStillBecause,
                !isYetToBeProbed(index)
            else { return nil }
            reason = reason ?? why
        }
        return damage.map(EngineRest.damaged) ?? reason.map(EngineRest.stopped) ?? .drained
    }

    /// Why nothing of a running lane goes for a while: all that it has is scheduled.
    private func scheduleReason(_ index: Int) -> String? {
        let lane = lanes[index]
        guard judge.topicHold.isEmpty, lane.isRunning, !lane.hasWork, lane.deferral.due == nil,
            let time = lane.deferral.scheduledFor, time.since(judge.clock.earliest) > .seconds(60)
        else { return nil }
        return "what is left is scheduled: the first may go from \(Timestamp.format(time)) on"
    }

    /// Why nothing of a running lane goes although there is something; nil when something may go.
    private func topicReason(_ index: Int) -> String? {
        let lane = lanes[index]
        guard !judge.topicHold.isEmpty, lane.isRunning, !lane.hasWork, lane.deferral.due == nil else { return nil }
        return judge.topicHold.reason(lane: index)
    }

    /// Why nothing of a running lane goes although there is something: a pause of its tag holds all of it that is not scheduled
    /// for later.
    private func tagReason(_ index: Int) -> String? {
        let lane = lanes[index]
        let held = context.journal.heldCount(lane.id)
        guard held > 0, lane.isRunning, !lane.hasWork, lane.deferral.due == nil, judge.tagHold.call(lane: index) == nil,
            !judge.tagHold.isUnknown(lane: index),
            held == context.journal.depth(lane.id) || judge.topicHold.isEmpty && !isScheduledSoon(index)
        else { return nil }
        return judge.tagHold.words
    }

    private func isScheduledSoon(_ index: Int) -> Bool {
        lanes[index].deferral.scheduledFor.map { $0.since(judge.clock.earliest) <= .seconds(60) } ?? false
    }

    /// So many failed probes tell, although all of them were of one entry.
    private static let tellingProbes = 3

    /// Whether a lane that stopped just now will try an entry before anybody should be told that nothing more goes.
    private func isYetToBeProbed(_ index: Int) -> Bool {
        guard lanes[index].wantsProbe, !connections.pool.isAway else { return false }
        let alike = lanes.filter { $0.machine.remedy == lanes[index].machine.remedy }
        guard alike.contains(where: { $0.probe.hasTried }) else { return true }
        guard lanes[index].machine.remedy == .credentials, !judge.credentialTrial.refusesSeveral else { return false }
        // One entry was refused, which may be about that entry. Where others can't be tried, this one has to tell.
        let left = alike.reduce(0) { $0 + context.journal.depth($1.id) }
        return left > 1 && alike.allSatisfy { $0.probe.failures < Self.tellingProbes }
    }

    // MARK: Measures

    /// - Parameter hadNews: whether the turn had anything to take in.
    func turnEnded(hadNews: Bool, at now: Moment) {
        let observer = context.teller.observer
        for link in connections.links.values { link.flights.window.moveAnswerTimes(to: &observer.answers) }
        if observer.turnEnded(hadNews: hadNews, now: now.monotonic), !context.ending.isOver {
            observer.measured(levels(wall: now.wall), now: now.monotonic)
        }
        guard !context.ending.hasBegun, !context.ending.isOver, reports.isDue(now: now.monotonic) else { return }
        if let report = reports.report(figures(wall: now.wall), now: now.monotonic) { context.tell(.report(report)) }
    }

    private func levels(wall: WallTime) -> RouteLevels {
        let journal = context.journal
        return RouteLevels(
            route: context.name, measuredAt: wall,
            lanes: lanes.map { lane in
                let depth = journal.depth(lane.id)
                return RouteLevels.Lane(
                    key: lane.key, state: lane.machine.state, depth: depth,
                    oldestAcceptedAt: depth > 0 ? oldestAcceptedAt(lane.id) : nil)
            },
            inFlight: connections.inFlight, inFlightLimit: places.windowLimit, suspects: judge.breakers.heldCount,
            connections: connections.pool.active.count, connectionLimit: connections.pool.limit,
            isThrottled: judge.throttled != nil, grantedRate: judge.throttled?.perSecond,
            outcomes: journal.unreadOutcomeCount, blacklist: context.producer.blacklist.count,
            blacklistDamage: journal.blacklist.damageCount, quarantined: journal.quarantinedCount,
            aside: journal.asideCount, scheduled: journal.scheduledCount, heldByTag: journal.heldByTagCount)
    }

    /// One that can't be read is not known; who must read it to send it does something about it.
    private func oldestAcceptedAt(_ lane: LaneID) -> WallTime? {
        do {
            let first = try context.journal.unconfirmed(lane, after: .none, through: .max, limit: 1)
            return first.isEmpty ? nil : try first.fields(at: 0).acceptedAt
        } catch {
            context.tell(.oldestUnread("\(error)"))
            return nil
        }
    }

    /// Of the whole engine, counted since it was made.
    private func figures(wall: WallTime) -> PeriodFigures {
        let status = context.teller.board.status(backlog: { _ in 0 }, now: wall)
        let observed = context.teller.observer.engine.figures
        var figures = PeriodFigures(status, observed, wall: wall)
        (figures.accepted, figures.refused) = context.producer.shared.withLock { ($0.submitted, $0.refused) }
        return figures
    }
}
