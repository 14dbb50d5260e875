/// The counts and levels of the periodic report.
struct PeriodFigures: Hashable, Sendable {
    struct Lane: Hashable, Sendable {
        var key: LaneKey
        var depth: Int
        /// How long its first entry has waited; nil when that is not known.
        var oldestAge: Duration?
    }

    // Since the engine was made.
    var accepted = 0
    var refused = 0
    /// Hand-outs to a connection; an entry that is sent again counts again.
    var sent = 0
    var requeued = 0
    var deferred = 0
    var possibleDuplicates = 0
    var confirmed = 0
    var unknown = 0
    var withdrawn = 0
    var superseded = 0
    /// For good, by reason; the expired are among them.
    var failed: [Reason: Int] = [:]
    var commits = EngineObserver.TimeTotal()
    var answers = EngineObserver.TimeTotal()

    // As of now.
    var connections = 0
    var connectionLimit = 0
    var inFlight = 0
    /// The lanes with entries.
    var lanes: [Lane] = []

    var depth: Int { lanes.reduce(0) { $0 + $1.depth } }

    /// Returns the counts since `earlier`, with the present levels.
    func since(_ earlier: PeriodFigures) -> PeriodFigures {
        var result = self
        result.accepted -= earlier.accepted
        result.refused -= earlier.refused
        result.sent -= earlier.sent
        result.requeued -= earlier.requeued
        result.deferred -= earlier.deferred
        result.possibleDuplicates -= earlier.possibleDuplicates
        result.confirmed -= earlier.confirmed
        result.unknown -= earlier.unknown
        result.withdrawn -= earlier.withdrawn
        result.superseded -= earlier.superseded
        for (reason, count) in earlier.failed { result.failed[reason, default: 0] -= count }
        result.failed = result.failed.filter { $0.value > 0 }
        result.commits = commits.since(earlier.commits)
        result.answers = answers.since(earlier.answers)
        return result
    }

    /// Whether nothing was done and nothing waits.
    var isIdle: Bool {
        depth == 0 && inFlight == 0 && accepted == 0 && refused == 0 && sent == 0 && requeued == 0 && deferred == 0
            && confirmed == 0 && unknown == 0 && withdrawn == 0 && superseded == 0 && failed.isEmpty
    }
}

extension EngineObserver.TimeTotal {
    func since(_ earlier: Self) -> Self { Self(count: count - earlier.count, total: total - earlier.total) }

    /// Nil where there was nothing.
    var mean: Duration? { count > 0 ? total / count : nil }
}

extension PeriodFigures {
    /// Of the whole engine, counted since it was made; but for what was submitted.
    init(_ status: EngineStatus, _ observed: EngineObserver.State, wall: WallTime) {
        self.init()
        let levels = observed.levels.sorted { $0.key < $1.key }.map(\.value)
        sent = status.handedOut
        requeued = status.requeued
        deferred = status.deferrals
        possibleDuplicates = status.possibleDuplicates
        confirmed = status.confirmed
        unknown = status.unknown
        withdrawn = status.withdrawn
        superseded = status.superseded
        failed = status.rejected
        if status.expired > 0 { failed[.expired, default: 0] += status.expired }
        commits = observed.commits
        answers = observed.answers
        inFlight = status.inFlight
        connections = levels.reduce(0) { $0 + $1.connections }
        connectionLimit = levels.reduce(0) { $0 + $1.connectionLimit }
        lanes = levels.flatMap(\.lanes).filter { $0.depth > 0 }.map { lane in
            Lane(
                key: lane.key, depth: lane.depth,
                oldestAge: lane.oldestAcceptedAt.map { max(wall.since($0), .zero) })
        }
    }
}
