internal import Logging

/// Reports an engine's counts to all listeners, and sums them up for the periodic report, beside the ``StatusBoard``. One
/// for an engine; from any thread.
final class EngineObserver: Sendable {
    /// Sums of times.
    struct TimeTotal: Hashable, Sendable {
        var count = 0
        var total = Duration.zero
        /// Of those that are counted by bucket, as ``Latencies/buckets``; empty for none.
        var buckets: [Int] = []

        mutating func add(_ times: Latencies) {
            count += times.count
            total += times.total
            if buckets.isEmpty { buckets = [Int](repeating: 0, count: times.buckets.count) }
            for index in times.buckets.indices { buckets[index] += times.buckets[index] }
        }
    }

    struct State: Sendable {
        var commits = TimeTotal()
        var answers = TimeTotal()
        var usedBytes = 0
        /// As they were measured last, by index of the route.
        var levels: [Int: RouteLevels] = [:]
    }

    let log: EngineLog
    let conditions: EngineConditions
    let listeners: [any MetricsListener]
    private let clock: EngineClock
    private let listenerLimit: Duration
    private let state = Monitor(State())

    init(
        listeners: [any MetricsListener], log: EngineLog, clock: EngineClock, configuration: EngineConfiguration,
        conditions: EngineConditions
    ) {
        self.conditions = conditions
        self.listeners = listeners
        self.log = log
        self.clock = clock
        listenerLimit = configuration.listenerLimit
    }

    /// Calls every listener, and says so when one takes too long over it.
    ///
    /// - Parameter what: what the calls were about, for people.
    func tell(_ what: StaticString, _ body: (any MetricsListener) -> Void) {
        for listener in listeners {
            let start = clock.monotonic()
            body(listener)
            let time = clock.monotonic() - start
            if time > listenerLimit { warn(of: listener, what, time) }
        }
    }

    private func warn(of listener: any MetricsListener, _ what: StaticString, _ time: Duration) {
        let name = "\(type(of: listener))"
        log(
            .listenerSlow, "the metrics listener \(name) took \(time) over \(what), and the engine waited for it",
            ["listener": .string(name), "ms": .milliseconds(time)])
    }

    // MARK: What happens

    /// - Parameter refusals: by reason.
    func submitted(accepted: Int, refusals: [Reason: Int]) {
        conditions.submitted(accepted: accepted, refusals: refusals)
        guard !listeners.isEmpty, accepted > 0 || !refusals.isEmpty else { return }
        tell("submissions") { listener in
            if accepted > 0 { listener.accepted(accepted) }
            for (reason, count) in refusals { listener.refused(count, reason: reason) }
        }
    }

    func committed(_ commit: CommitMeasure) {
        conditions.committed()
        state.withLock { state in
            state.commits.count += 1
            state.commits.total += commit.duration
            state.usedBytes = commit.usedBytes
        }
        log(
            .committed, "\(commit.entries) entries and \(commit.settlements) settlements are on disk",
            [
                "entries": .count(commit.entries), "settlements": .count(commit.settlements),
                "bytes": .count(commit.bytes), "ms": .milliseconds(commit.duration),
            ])
        tell("a commit") { $0.committed(commit) }
    }

    func answered(_ times: Latencies) {
        guard times.count > 0 else { return }
        state.withLock { $0.answers.add(times) }
    }

    func measured(_ levels: RouteLevels, route: Int) {
        state.withLock { $0.levels[route] = levels }
        tell("levels") { $0.measured(levels) }
    }

    /// The route is served no more.
    func forget(route: Int) { state.withLock { $0.levels[route] = nil } }

    /// As of now.
    var figures: State { state.withLock { $0 } }

    /// When the first entry of a lane was accepted, as of the last measurement.
    var oldest: [LaneKey: WallTime] {
        var oldest: [LaneKey: WallTime] = [:]
        for levels in figures.levels.values {
            for lane in levels.lanes { oldest[lane.key] = lane.oldestAcceptedAt }
        }
        return oldest
    }
}
