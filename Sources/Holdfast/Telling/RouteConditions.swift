/// What is wrong with a route, told as it begins and ends. Confined to the route's Consumer.
final class RouteConditions {
    private let log: EngineLog
    private let clock: EngineClock
    private var reach: ServiceReach
    private var machine: Conditions
    private var lastAway: ServiceReach.Away?

    init(_ log: EngineLog, clock: EngineClock, interval: Duration, answersEach: Bool) {
        (self.log, self.clock) = (log, clock)
        reach = ServiceReach(answersEach: answersEach)
        machine = Conditions(interval: interval)
    }

    func take(_ news: RouteNews) { reach.take(news) { clock.wall() } }

    /// Goes on where the route's Consumer before this one was.
    func succeed(_ other: RouteConditions) { (machine, reach) = (other.machine, other.reach) }

    /// When the log may be told of what was held back; nil where nothing was.
    var nextTelling: Duration? { machine.nextTelling }

    /// Looks at the route at the end of a turn.
    ///
    /// - Parameters:
    ///   - isOther: whether the findings are others than they were.
    ///   - depth: unconfirmed entries of a lane.
    /// - Returns: what is wrong now; nil when that is what it was.
    func look(
        isOther: Bool, _ findings: () -> RouteFindings, depth: (LaneKey) -> Int
    ) -> [HealthCondition]? {
        // What waits grows while something is wrong.
        guard isOther || reach.away != lastAway || !machine.isEmpty else { return nil }
        var findings = findings()
        if reach.away != nil { reach.look(waiting: findings.lanes.reduce(0) { $0 + depth($1.key) }) }
        (findings.away, lastAway) = (reach.away, reach.away)
        let now = clock.moment()
        for change in machine.look(findings.conditions(depth: depth, now: now.wall), at: now) { log.tell(change) }
        return machine.all
    }
}
