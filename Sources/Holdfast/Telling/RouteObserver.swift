/// Collects what happens in a turn of one route's Consumer, and reports it at the end of the turn.
///
/// Confined to its Consumer.
final class RouteObserver {
    let log: EngineLog
    let engine: EngineObserver
    private let route: String
    private let index: Int
    private var sent = 0
    private var possibleDuplicates = 0
    private var recalled = 0
    private var wronglyConfirmed = 0
    private var counts = SettlementCounts()
    /// From hand-out to answer, of this turn.
    var answers = LatencyTally()
    /// From acceptance to confirmation, of this turn.
    private var deliveries = LatencyTally()
    private var measuring: MeasureSchedule

    init(_ engine: EngineObserver, route: String, index: Int, log: EngineLog, measureInterval: Duration) {
        self.engine = engine
        self.route = route
        self.index = index
        self.log = log
        measuring = MeasureSchedule(interval: measureInterval)
    }

    // MARK: During a turn

    func handedOut(_ count: Int, possibleDuplicates: Int) {
        sent += count
        self.possibleDuplicates += possibleDuplicates
    }

    func settled(_ counts: SettlementCounts) { self.counts.add(counts) }

    func lateError(recalled: Int, lost: Int) {
        self.recalled += recalled
        wronglyConfirmed += lost
    }

    func confirmed(_ runs: ConfirmedRuns, now: WallTime) { runs.count(into: &deliveries, now: now) }

    // MARK: What is told at once, since it is rare

    func connectionOpened() { engine.tell("a connection") { $0.connectionOpened(route: route) } }

    func connectionFailed(_ error: ConnectError) {
        engine.tell("a connection") { $0.connectionFailed(error, route: route) }
    }

    func connectionClosed(cause: String?) {
        engine.tell("a connection") { $0.connectionClosed(cause: cause, route: route) }
    }

    func laneStateChanged(_ lane: LaneKey, to state: LaneState) {
        engine.tell("a lane's state") { $0.laneStateChanged(lane, to: state) }
    }

    func stopped(because kind: HealthCondition.Kind) {
        engine.tell("a stop") { $0.stopped(because: kind, route: route) }
    }

    func holdChanged(_ hold: HoldReason?) { engine.tell("a hold") { $0.holdChanged(hold, route: route) } }

    // MARK: At its end

    /// When to come back for a measurement; nil while nothing changes.
    var nextMeasurement: Duration? { measuring.next }

    /// Tells what the turn has brought.
    ///
    /// - Parameter hadNews: whether anything may have changed by it.
    /// - Returns: whether it is time to measure.
    func turnEnded(hadNews: Bool, now: Duration) -> Bool {
        if hadNews { measuring.changed() }
        tell()
        return measuring.isDue(now: now)
    }

    func measured(_ levels: RouteLevels, now: Duration) {
        let isAtRest = levels.inFlight == 0 && levels.lanes.allSatisfy { $0.depth == 0 }
        measuring.measured(now: now, isAtRest: isAtRest)
        engine.measured(levels, route: index)
    }

    private func tell() {
        guard
            sent > 0 || answers.count > 0 || recalled > 0 || wronglyConfirmed > 0 || counts != SettlementCounts()
        else { return }
        defer {
            (sent, possibleDuplicates, recalled, wronglyConfirmed) = (0, 0, 0, 0)
            counts = SettlementCounts()
        }
        let (answers, deliveries) = (answers.take(), deliveries.take())
        engine.answered(answers)
        engine.tell("a turn") { tell($0, answers, deliveries) }
    }

    private func tell(_ listener: any MetricsListener, _ answers: Latencies, _ deliveries: Latencies) {
        if sent > 0 { listener.sent(sent, possibleDuplicates: possibleDuplicates, route: route) }
        if answers.count > 0 { listener.answered(answers, route: route) }
        if deliveries.count > 0 { listener.delivered(deliveries, route: route) }
        let byAnswer = counts.confirmed - counts.confirmedByBarrier - counts.confirmedByQuiet
        if byAnswer > 0 { listener.confirmed(byAnswer, by: .answer, route: route) }
        if counts.confirmedByBarrier > 0 {
            listener.confirmed(counts.confirmedByBarrier, by: .barrier, route: route)
        }
        if counts.confirmedByQuiet > 0 { listener.confirmed(counts.confirmedByQuiet, by: .quiet, route: route) }
        for (reason, count) in counts.rejected { listener.rejected(count, reason: reason, route: route) }
        if counts.expired > 0 { listener.expired(counts.expired, route: route) }
        if counts.unknown > 0 { listener.unknown(counts.unknown, route: route) }
        if counts.withdrawn > 0 { listener.withdrawn(counts.withdrawn, route: route) }
        if counts.superseded > 0 { listener.superseded(counts.superseded, route: route) }
        if counts.moved > 0 { listener.moved(counts.moved, route: route) }
        if counts.deferred > 0 { listener.deferred(counts.deferred, route: route) }
        if counts.requeued > 0 { listener.requeued(counts.requeued, route: route) }
        if recalled > 0 { listener.recalled(recalled, route: route) }
        if wronglyConfirmed > 0 { listener.wronglyConfirmed(wronglyConfirmed, route: route) }
    }
}

extension SettlementCounts {
    mutating func add(_ other: Self) {
        confirmed += other.confirmed
        confirmedByBarrier += other.confirmedByBarrier
        confirmedByQuiet += other.confirmedByQuiet
        expired += other.expired
        unknown += other.unknown
        withdrawn += other.withdrawn
        superseded += other.superseded
        moved += other.moved
        deferred += other.deferred
        requeued += other.requeued
        if !other.rejected.isEmpty { rejected.merge(other.rejected, uniquingKeysWith: +) }
    }
}
