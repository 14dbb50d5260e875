internal import CoreMetrics

/// The ``MetricsListener`` for swift-metrics. ``MetricName`` has the names.
///
/// The engine adds up counts for each turn and commit, and handles are made once, so nothing is done for each notification.
final class SwiftMetricsExporter: MetricsListener {
    private let factory: any MetricsFactory
    private let submitted: Counter
    private let usedBytes: Meter
    private let limitBytes: Meter
    private let outcomes: Meter
    private let blacklist: Meter
    private let blacklistDamage: Meter
    private let quarantined: Meter
    private let aside: Meter
    private let scheduled: Meter
    private let heldByTag: Meter
    private let commitTime: Timer
    private let syncTime: Timer
    private let commitEntries: Recorder
    private let commitSettlements: Recorder
    private let commitBytes: Recorder
    private let routes: Monitor<[String: RouteMetrics]>
    /// Handles for reasons, which come up as the service says them.
    private let reasons = Monitor(Reasons())

    private struct Reasons: Sendable {
        var labels = ReasonLabels()
        var refused: [String: Counter] = [:]
        /// By route and label.
        var rejected: [String: [String: Counter]] = [:]
    }

    init(factory: any MetricsFactory, routes: [String]) {
        self.factory = factory
        submitted = factory.counter(.submitted)
        usedBytes = factory.meter(.usedBytes)
        limitBytes = factory.meter(.limitBytes)
        outcomes = factory.meter(.outcomes)
        blacklist = factory.meter(.blacklist)
        blacklistDamage = factory.meter(.blacklistDamage)
        quarantined = factory.meter(.quarantined)
        aside = factory.meter(.aside)
        scheduled = factory.meter(.scheduled)
        heldByTag = factory.meter(.heldByTag)
        commitTime = factory.timer(.commitTime)
        syncTime = factory.timer(.syncTime)
        commitEntries = factory.recorder(.commitEntries)
        commitSettlements = factory.recorder(.commitSettlements)
        commitBytes = factory.recorder(.commitBytes)
        self.routes = Monitor(
            Dictionary(routes.map { ($0, RouteMetrics(factory, route: $0)) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Made at the route's first word, for one that was not there from the start.
    private func metrics(of route: String) -> RouteMetrics {
        routes.withLock { routes in
            if let known = routes[route] { return known }
            let made = RouteMetrics(factory, route: route)
            routes[route] = made
            return made
        }
    }

    func accepted(_ count: Int) { submitted.increment(by: count) }

    func refused(_ count: Int, reason: Reason) {
        let counter = reasons.withLock { reasons in
            let label = reasons.labels.label(for: reason)
            if let known = reasons.refused[label] { return known }
            let counter = factory.counter(.refused, [label])
            reasons.refused[label] = counter
            return counter
        }
        counter.increment(by: count)
    }

    func rejected(_ count: Int, reason: Reason, route: String) {
        let counter = reasons.withLock { reasons in
            let label = reasons.labels.label(for: reason)
            if let known = reasons.rejected[route]?[label] { return known }
            let counter = factory.counter(.rejected, [route, label])
            reasons.rejected[route, default: [:]][label] = counter
            return counter
        }
        counter.increment(by: count)
    }

    func sent(_ count: Int, possibleDuplicates: Int, route: String) {
        metrics(of: route).sent.increment(by: count)
        if possibleDuplicates > 0 { metrics(of: route).possibleDuplicates.increment(by: possibleDuplicates) }
    }

    func answered(_ latencies: Latencies, route: String) { metrics(of: route).answerTime.add(latencies) }
    func delivered(_ latencies: Latencies, route: String) { metrics(of: route).deliveryTime.add(latencies) }

    func confirmed(_ count: Int, by basis: ConfirmationBasis, route: String) {
        let route = metrics(of: route)
        switch basis {
        case .answer: route.confirmedByAnswer.increment(by: count)
        case .barrier: route.confirmedByBarrier.increment(by: count)
        case .quiet: route.confirmedByQuiet.increment(by: count)
        }
    }

    func expired(_ count: Int, route: String) { metrics(of: route).expired.increment(by: count) }
    func unknown(_ count: Int, route: String) { metrics(of: route).unknown.increment(by: count) }
    func withdrawn(_ count: Int, route: String) { metrics(of: route).withdrawn.increment(by: count) }
    func superseded(_ count: Int, route: String) { metrics(of: route).superseded.increment(by: count) }
    func moved(_ count: Int, route: String) { metrics(of: route).moved.increment(by: count) }
    func deferred(_ count: Int, route: String) { metrics(of: route).deferred.increment(by: count) }
    func requeued(_ count: Int, route: String) { metrics(of: route).requeued.increment(by: count) }
    func recalled(_ count: Int, route: String) { metrics(of: route).recalled.increment(by: count) }
    func wronglyConfirmed(_ count: Int, route: String) { metrics(of: route).wronglyConfirmed.increment(by: count) }

    func connectionOpened(route: String) { metrics(of: route).opened.increment() }

    func connectionFailed(_ error: ConnectError, route: String) {
        switch error.kind {
        case .temporary: metrics(of: route).failed.increment()
        case .configuration: metrics(of: route).misconfigured.increment()
        }
    }

    func connectionClosed(cause: String?, route: String) {
        if cause == nil { metrics(of: route).closed.increment() } else { metrics(of: route).broken.increment() }
    }

    func committed(_ commit: CommitMeasure) {
        commitTime.recordNanoseconds(commit.duration.nanoseconds)
        if commit.syncDuration > .zero { syncTime.recordNanoseconds(commit.syncDuration.nanoseconds) }
        if commit.entries > 0 { commitEntries.record(commit.entries) }
        if commit.settlements > 0 { commitSettlements.record(commit.settlements) }
        if commit.bytes > 0 { commitBytes.record(commit.bytes) }
        usedBytes.set(commit.usedBytes)
        if let limit = commit.limitBytes { limitBytes.set(limit) }
    }

    func laneStateChanged(_ lane: LaneKey, to state: LaneState) {
        metrics(of: lane.route).lanes[lane]?.state.set(state.metric)
    }

    func stopped(because kind: HealthCondition.Kind, route: String) {
        metrics(of: route).stopped(because: kind, factory, route: route)
    }

    func holdChanged(_ hold: HoldReason?, route: String) { metrics(of: route).hold(hold, factory, route: route) }

    func measured(_ levels: RouteLevels) {
        outcomes.set(levels.outcomes)
        blacklist.set(levels.blacklist)
        blacklistDamage.set(levels.blacklistDamage)
        quarantined.set(levels.quarantined)
        aside.set(levels.aside)
        scheduled.set(levels.scheduled)
        heldByTag.set(levels.heldByTag)
        let route = metrics(of: levels.route)
        route.inFlight.set(levels.inFlight)
        route.inFlightLimit.set(levels.inFlightLimit)
        route.suspects.set(levels.suspects)
        route.connections.set(levels.connections)
        route.connectionLimit.set(levels.connectionLimit)
        route.throttled.set(levels.isThrottled ? 1 : 0)
        route.grantedRate.set(levels.grantedRate ?? 0)
        for lane in levels.lanes {
            guard let meters = route.lanes[lane.key] else { continue }
            meters.depth.set(lane.depth)
            meters.state.set(lane.state.metric)
            let age = lane.oldestAcceptedAt.map { max(levels.measuredAt.since($0), .zero) } ?? .zero
            meters.oldestAge.set(Double(age.nanoseconds) / 1_000_000_000)
        }
    }
}

/// The handles of one route.
private final class RouteMetrics: Sendable {
    struct Lane: Sendable {
        let depth: Meter
        let oldestAge: Meter
        let state: Meter
    }

    let sent, possibleDuplicates, confirmedByAnswer, confirmedByBarrier, confirmedByQuiet: Counter
    let recalled, wronglyConfirmed: Counter
    let expired, unknown, withdrawn, superseded, moved, deferred, requeued: Counter
    let opened, failed, misconfigured, closed, broken: Counter
    let inFlight, inFlightLimit, suspects, connections, connectionLimit, throttled, grantedRate: Meter
    let answerTime, deliveryTime: LatencyMetric
    let lanes: [LaneKey: Lane]
    private let holds = Monitor<[HoldReason: Meter]>([:])
    private let stops = Monitor<[HealthCondition.Kind: Counter]>([:])

    init(_ factory: any MetricsFactory, route: String) {
        sent = factory.counter(.sent, [route])
        possibleDuplicates = factory.counter(.possibleDuplicates, [route])
        confirmedByAnswer = factory.counter(.confirmed, [route, "answer"])
        confirmedByBarrier = factory.counter(.confirmed, [route, "barrier"])
        confirmedByQuiet = factory.counter(.confirmed, [route, "quiet"])
        recalled = factory.counter(.recalled, [route])
        wronglyConfirmed = factory.counter(.wronglyConfirmed, [route])
        expired = factory.counter(.expired, [route])
        unknown = factory.counter(.unknown, [route])
        withdrawn = factory.counter(.withdrawn, [route])
        superseded = factory.counter(.superseded, [route])
        moved = factory.counter(.moved, [route])
        deferred = factory.counter(.deferred, [route])
        requeued = factory.counter(.requeued, [route])
        opened = factory.counter(.connectionsOpened, [route])
        failed = factory.counter(.connectionsFailed, [route, "temporary"])
        misconfigured = factory.counter(.connectionsFailed, [route, "configuration"])
        closed = factory.counter(.connectionsClosed, [route, "yes"])
        broken = factory.counter(.connectionsClosed, [route, "no"])
        inFlight = factory.meter(.inFlight, [route])
        inFlightLimit = factory.meter(.inFlightLimit, [route])
        suspects = factory.meter(.suspects, [route])
        connections = factory.meter(.connections, [route])
        connectionLimit = factory.meter(.connectionLimit, [route])
        throttled = factory.meter(.throttled, [route])
        grantedRate = factory.meter(.grantedRate, [route])
        answerTime = LatencyMetric(.answerTime, [route], factory)
        deliveryTime = LatencyMetric(.deliveryTime, [route], factory)
        var lanes: [LaneKey: Lane] = [:]
        for urgency in Urgency.allCases {
            for guarantee in Guarantee.allCases {
                let labels = [route, "\(urgency.name)/\(guarantee.name)"]
                lanes[LaneKey(route: route, urgency: urgency, guarantee: guarantee)] = Lane(
                    depth: factory.meter(.depth, labels), oldestAge: factory.meter(.oldestAge, labels),
                    state: factory.meter(.laneState, labels))
            }
        }
        self.lanes = lanes
    }

    func stopped(because kind: HealthCondition.Kind, _ factory: any MetricsFactory, route: String) {
        let counter = stops.withLock { stops in
            let counter = stops[kind] ?? factory.counter(.stops, [route, kind.rawValue])
            stops[kind] = counter
            return counter
        }
        counter.increment()
    }

    /// One reason holds at a time.
    func hold(_ hold: HoldReason?, _ factory: any MetricsFactory, route: String) {
        let (past, present) = holds.withLock { holds in
            if let hold, holds[hold] == nil { holds[hold] = factory.meter(.holding, [route, hold.name]) }
            return (holds.filter { $0.key != hold }.map(\.value), hold.flatMap { holds[$0] })
        }
        for meter in past { meter.set(0) }
        present?.set(1)
    }
}

extension HoldReason {
    /// A word for labels.
    var name: String {
        switch self {
        case .ownershipUnproven: "ownership-unproven"
        case .payloadError: "payload-error"
        case .outcomesFull: "outcomes-full"
        case .parked: "parked"
        case .throttled: "throttled"
        case .journalUnreadable: "journal-unreadable"
        }
    }
}

extension LaneState {
    /// 0 running, 1 paused, 2 stopped.
    fileprivate var metric: Int {
        switch self {
        case .running: 0
        case .paused: 1
        case .stopped: 2
        }
    }
}

extension Duration {
    /// Clamped to what an `Int64` holds.
    var nanoseconds: Int64 {
        let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (components.seconds < 0 ? .min : .max) : whole &+ components.attoseconds / 1_000_000_000
    }
}

extension MetricsFactory {
    fileprivate func counter(_ name: MetricName, _ values: [String] = []) -> Counter {
        Counter(label: name.rawValue, dimensions: name.dimensions(values), factory: self)
    }

    fileprivate func meter(_ name: MetricName, _ values: [String] = []) -> Meter {
        Meter(label: name.rawValue, dimensions: name.dimensions(values), factory: self)
    }

    fileprivate func timer(_ name: MetricName, _ values: [String] = []) -> Timer {
        Timer(label: name.rawValue, dimensions: name.dimensions(values), factory: self)
    }

    fileprivate func recorder(_ name: MetricName, _ values: [String] = []) -> Recorder {
        Recorder(label: name.rawValue, dimensions: name.dimensions(values), factory: self)
    }
}

extension MetricName {
    func dimensions(_ values: [String]) -> [(String, String)] {
        precondition(values.count == labels.count, "\(rawValue) has the labels \(labels)")
        return Array(zip(labels, values))
    }
}
