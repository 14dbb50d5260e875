internal import Holdfast
internal import Logging

/// What is wrong with a service beside its engine, told to the log as it begins and ends. From any thread.
final class ServiceConditions: Sendable {
    /// From one look to the next.
    static let interval = Duration.seconds(2)

    private let logger: Logger
    private let clock: EngineClock
    private let machine: Monitor<Conditions>
    /// Kinds whose present condition the engine has told, and tells the end of.
    private let toldByEngine = Monitor<Set<HealthCondition.Kind>>([])

    init(_ logger: Logger, clock: EngineClock = .system, interval: Duration) {
        (self.logger, self.clock) = (logger, clock)
        machine = Monitor(Conditions(interval: interval))
    }

    /// What was wrong at the last look.
    var all: [HealthCondition] { machine.withLock(\.all) }

    /// - Parameters:
    ///   - found: everything that is wrong now.
    ///   - isBlind: whether only the journal can be looked at, since nothing serves; all else is as it was.
    ///   - engine: the kinds that the engine has found by itself: both may see that a database is away, and one tells it.
    /// - Returns: the same, each with when it began.
    func look(
        isBlind: Bool = false, engine: Set<HealthCondition.Kind> = [], _ found: (WallTime) -> [HealthCondition]
    ) -> [HealthCondition] {
        let now = clock.moment()
        var found = found(now.wall)
        let (changes, all) = machine.withLock { machine in
            let seen = Set(found.map(\.kind)).union([.journalFailed])
            if isBlind { found += machine.all.filter { !seen.contains($0.kind) } }
            return (machine.look(found, at: now), machine.all)
        }
        toldByEngine.withLock { $0.formUnion(engine) }
        for change in changes where !isToldByOthers(change) && !isToldByEngine(change) {
            logger.tell(change)
        }
        toldByEngine.withLock { $0.formIntersection(engine.union(all.map(\.kind))) }
        return all
    }

    /// Webhooks log their own troubles, with what they do about them, and each reload that it is refused, or taken up at last.
    private func isToldByOthers(_ change: Conditions.Change) -> Bool {
        [.webhookFailing, .reloadRefused].contains(change.condition.kind)
    }

    private func isToldByEngine(_ change: Conditions.Change) -> Bool {
        toldByEngine.withLock { told in
            if case .ended = change.kind { return told.remove(change.condition.kind) != nil }
            return told.contains(change.condition.kind)
        }
    }
}
