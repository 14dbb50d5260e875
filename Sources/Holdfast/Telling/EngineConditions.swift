/// What is wrong with an engine beside its routes: its journal, its clock, paused tags, and what its host says. From any thread.
///
/// Looks come with the turns of the Consumer in charge. Other threads leave what they met, and have it look.
final class EngineConditions: Sendable {
    /// What is looked at.
    struct Sources: Sendable {
        let journal: any JournalService
        let pausedTags: Monitor<TagPauses>
        let clockTrust: ClockTrust
    }

    private struct State: Sendable {
        var machine: Conditions
        var findings = JournalFindings()
        /// Nil for a look that is due.
        var lookedAt: Duration?
        var host: [HealthCondition] = []
        var takenOver: [EngineStatus.TakenOver] = []
        var credentials = CredentialFindings()
    }

    /// From one look to the next while something is wrong.
    private static let interval = Duration.seconds(1)

    private let log: EngineLog
    private let clock: EngineClock
    private let sources: Sources
    private let state: Monitor<State>
    /// Has the Consumer in charge look.
    private let wake: @Sendable () -> Void

    init(
        _ sources: Sources, log: EngineLog, clock: EngineClock, interval: Duration, wake: @escaping @Sendable () -> Void
    ) {
        (self.sources, self.log, self.clock, self.wake) = (sources, log, clock, wake)
        state = Monitor(State(machine: Conditions(interval: interval)))
    }

    // MARK: What is met

    /// The journal took notifications, or did not.
    func submitted(accepted: Int, refusals: [Reason: Int]) {
        let now = refusals.isEmpty ? .zero : clock.monotonic()
        let isNews = state.withLock { state in
            let isBack = accepted > 0 && state.findings.accepted()
            return state.findings.refused(refusals, at: now) || isBack
        }
        if isNews { lookSoon() }
    }

    /// A write of the journal failed.
    func failed(_ error: JournalError) {
        let now = clock.monotonic()
        let isNews = state.withLock { $0.findings.failed(error, at: now) }
        if isNews { lookSoon() }
    }

    /// The journal can't be used before it is opened anew.
    func lost(_ error: JournalError) { state.withLock { $0.findings.lost(error) } }

    /// A commit is on disk.
    func committed() { if state.withLock({ $0.findings.committed() }) { lookSoon() } }

    /// A connector has said something of its keys and certificates.
    ///
    /// - Returns: whether it is a condition, which is told as one.
    func connector(of route: String, says notice: ConnectorNotice) -> Bool {
        let isCondition = state.withLock { $0.credentials.take(notice, of: route, at: clock.wall()) }
        lookSoon()
        return isCondition
    }

    /// The route is served no more.
    func forget(route: String) {
        state.withLock { $0.credentials.forget(route) }
        lookSoon()
    }

    /// The process around the engine says anew what is wrong beside the engine, and which journals it delivers beside this one. It tells
    /// its log itself.
    func host(_ conditions: [HealthCondition], takenOver: [EngineStatus.TakenOver] = []) {
        state.withLock { ($0.host, $0.takenOver) = (conditions, takenOver) }
    }

    /// The journals that the process delivers beside this one.
    var takenOver: [EngineStatus.TakenOver] { state.withLock(\.takenOver) }

    /// Something has changed that no time tells.
    func lookSoon() {
        state.withLock { $0.lookedAt = nil }
        wake()
    }

    // MARK: Looks

    /// When to look at the latest; nil while nothing is wrong that may pass without a word, and nothing is yet to be told.
    var nextLook: Duration? {
        state.withLock { state in
            guard let last = state.lookedAt else { return .zero }
            if state.findings.mayPass { return last + Self.interval }
            return state.machine.nextTelling.map { max($0, last + Self.interval) }
        }
    }

    /// Looks if it is time to, and tells the log what has changed.
    func look(isForced: Bool = false) {
        let now = clock.moment()
        let (changes, isOwed): ([Conditions.Change], Bool) = state.withLock { state in
            if !isForced, let at = state.lookedAt, now.monotonic < at + Self.interval { return ([], false) }
            state.lookedAt = now.monotonic
            state.findings.look(sources, at: now)
            let changes = state.machine.look(
                state.findings.conditions(now: now.wall) + state.credentials.conditions, at: now)
            return (changes, state.machine.nextTelling != nil)
        }
        for change in changes { log.tell(change) }
        // The Consumer in charge comes back for it; in its own turn it asks when.
        if isForced, isOwed { wake() }
    }

    /// What the engine itself has found wrong.
    var own: [HealthCondition] {
        let held = sources.journal.heldByTagCount
        return state.withLock { $0.machine.all.counted(held: held) }
    }

    /// What is wrong now.
    var all: [HealthCondition] {
        let held = sources.journal.heldByTagCount
        return state.withLock { state in
            let own = state.machine.all.counted(held: held)
            let kinds = Set(own.filter(\.subject.isEmpty).map(\.kind))
            // Both may see that a database is away.
            return own + state.host.filter { !$0.subject.isEmpty || !kinds.contains($0.kind) }
        }
    }
}
