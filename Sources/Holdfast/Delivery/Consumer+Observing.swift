/// What a turn has brought is told, and the route is measured and reported on when it is time.
extension Consumer {
    /// - Parameter hadNews: whether the turn had anything to take in.
    func observeTurn(hadNews: Bool, now: Duration, wall: WallTime) {
        for link in links.values { observer.answered(link.window.takeAnswerTimes()) }
        if observer.turnEnded(hadNews: hadNews, now: now), end == nil {
            observer.measured(levels(wall: wall), now: now)
        }
        guard shutdownDeadline == nil, end == nil, reports.isDue(now: now) else { return }
        if let report = reports.report(figures(wall: wall), now: now) { log(.report, report.message, report.metadata) }
    }

    /// When to come back for that.
    var observationWakes: [Duration] {
        [observer.nextMeasurement, reports.next].compactMap { $0 }
    }

    private func levels(wall: WallTime) -> RouteLevels {
        RouteLevels(
            route: name, measuredAt: wall,
            lanes: lanes.map { lane in
                let depth = journal.depth(lane.id)
                return RouteLevels.Lane(
                    key: lane.key, state: lane.state, depth: depth,
                    oldestAcceptedAt: depth > 0 ? oldestAcceptedAt(lane.id) : nil)
            },
            inFlight: inFlight, suspects: breakers.heldCount,
            connections: pool.active.count, connectionLimit: pool.limit, outcomes: journal.outcomeCount,
            blacklist: producer.blacklist.count, blacklistDamage: journal.blacklist.damageCount,
            quarantined: journal.quarantinedCount, aside: journal.asideCount)
    }

    /// One that can't be read is not known; who must read it to send it does something about it.
    private func oldestAcceptedAt(_ lane: LaneID) -> WallTime? {
        do {
            let first = try journal.unconfirmed(lane, after: .none, through: .max, limit: 1)
            return first.isEmpty ? nil : try first.fields(at: 0).acceptedAt
        } catch {
            log(.oldestUnread, "the age of a lane's first entry can't be read: \(error)")
            return nil
        }
    }

    /// Of the whole engine, counted since it was made.
    private func figures(wall: WallTime) -> PeriodFigures {
        let status = board.status { _ in 0 }
        let observed = observer.engine.figures
        let levels = observed.levels.sorted { $0.key < $1.key }.map(\.value)
        var figures = PeriodFigures()
        (figures.accepted, figures.refused) = producer.shared.withLock { ($0.submitted, $0.refused) }
        figures.sent = status.handedOut
        figures.requeued = status.requeued
        figures.deferred = status.deferrals
        figures.possibleDuplicates = status.possibleDuplicates
        figures.confirmed = status.confirmed
        figures.unknown = status.unknown
        figures.withdrawn = status.withdrawn
        figures.failed = status.rejected
        if status.expired > 0 { figures.failed[.expired, default: 0] += status.expired }
        figures.commits = observed.commits
        figures.answers = observed.answers
        figures.inFlight = status.inFlight
        figures.connections = levels.reduce(0) { $0 + $1.connections }
        figures.connectionLimit = levels.reduce(0) { $0 + $1.connectionLimit }
        figures.lanes = levels.flatMap(\.lanes).filter { $0.depth > 0 }.map { lane in
            PeriodFigures.Lane(
                key: lane.key, depth: lane.depth,
                oldestAge: lane.oldestAcceptedAt.map { max(wall.since($0), .zero) })
        }
        return figures
    }
}
