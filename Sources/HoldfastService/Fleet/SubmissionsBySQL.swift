internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPostgres
internal import Logging
internal import ServiceLifecycle

/// Takes what applications submit by SQL into a journal.
final class SubmissionsBySQL: Service, Sendable {
    private let terms: OutboxIntake.Terms
    private let engine: PushEngine
    private let owned: OwnedJournal
    private let patience: Duration
    private let work = ThreadWork<OutboxIntake>()

    /// - Parameters:
    ///   - takesNew: whether rows are claimed that nobody has; else only those of the journal's former owner.
    ///   - restraint: says how many of those that nobody has; nil for as many as there are.
    init(
        _ owned: OwnedJournal, _ terms: HostTerms, _ engine: PushEngine, takesNew: Bool,
        restraint: FleetRestraint? = nil, logger: Logger
    ) {
        var intake = OutboxIntake.Terms(
            target: terms.target, schema: terms.schema, journal: owned.id, epoch: owned.epoch, takesNew: takesNew)
        intake.takenBefore = { [journal = owned.journal] in try journal.takenRows().rows }
        intake.restorations = { owned.restorations }
        if let restraint {
            intake.room = { restraint.room }
            intake.leavesRefused = { restraint.othersLive }
            intake.onClaimed = { restraint.claimed() }
        }
        intake.onDoubt = { unknown, again in
            logger.warning(
                """
                The database has lost what became of \(unknown + again) submissions by SQL, and no host that is there has it: were \
                commits lost, and a host with them? \(unknown) are at-most-once, are not sent, and end as unknown; \(again) are sent, \
                and may be sent twice
                """)
        }
        self.terms = intake
        self.engine = engine
        self.owned = owned
        patience = terms.closing
    }

    /// Whether nothing is left that the journal has claimed.
    var isDrained: Bool { work.running?.status.ending == .drained }

    /// What is in the way.
    var trouble: FleetTrouble? {
        guard let status = work.running?.status, let why = status.trouble else { return nil }
        let ofHost: FleetTrouble.Origin = owned.wantOfRoom?.code == .limitReached ? .limit : .disk
        return FleetTrouble(.submissions, why, of: status.isOfJournal ? ofHost : .database)
    }

    func run() async throws {
        try await work.run(OutboxIntake(terms, into: engine), "holdfast-outbox-end") { [patience] in
            $0.stop(within: patience)
        }
    }
}

/// Tells applications how what they submitted by SQL ended.
final class OutcomesBySQL: Service, Sendable {
    private let terms: OutcomeOutlet.Terms
    private let engine: PushEngine
    private let owned: OwnedJournal
    private let patience: Duration
    private let work = ThreadWork<OutcomeOutlet>()

    init(_ owned: OwnedJournal, _ terms: HostTerms, _ engine: PushEngine, logger: Logger) {
        var outlet = OutcomeOutlet.Terms(
            target: terms.target, schema: terms.schema, journal: owned.id, epoch: owned.epoch)
        outlet.isLacking = { owned.restorations == nil }
        outlet.onTold = { [journal = owned.journal] cursor in journal.holdOutcomes(after: cursor) }
        outlet.onMissed = { [name = owned.name] count in
            logger.warning(
                """
                \(count) outcomes of journal \(name) were deleted, or can't be read, before they were told by SQL: submissions by SQL \
                among them get no outcome. The history deletes what is older than journal.history.keep, and the oldest beyond \
                journal.history.limit
                """)
        }
        self.terms = outlet
        self.engine = engine
        self.owned = owned
        patience = terms.closing
    }

    /// Whether all outcomes are put that there are.
    var isCaughtUp: Bool {
        guard let status = work.running?.status else { return false }
        return !status.isHistoryKept || status.cursor >= owned.journal.outcomeLog.newest
    }

    /// What is in the way.
    var trouble: FleetTrouble? { (work.running?.status.trouble).map { FleetTrouble(.outcomes, $0) } }

    func run() async throws {
        try await work.run(OutcomeOutlet(terms, of: engine.outcomeReading), "holdfast-outcomes-end") { [patience] in
            $0.stop(within: patience)
        }
    }
}
