internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPostgres
internal import ServiceLifecycle

/// Takes what applications submit by SQL into a journal.
final class SubmissionsBySQL: Service, Sendable {
    private let terms: OutboxIntake.Terms
    private let engine: PushEngine
    private let patience: Duration
    private let intake = Monitor<OutboxIntake?>(nil)

    /// - Parameter takesNew: whether rows are claimed that nobody has; else only those of the journal's former owner.
    init(_ owned: OwnedJournal, _ terms: HostTerms, _ engine: PushEngine, takesNew: Bool) {
        self.terms = OutboxIntake.Terms(
            target: terms.target, schema: terms.schema, journal: owned.id, epoch: owned.epoch, takesNew: takesNew)
        self.engine = engine
        patience = terms.closing
    }

    /// Whether nothing is left that the journal has claimed.
    var isDrained: Bool { intake.withLock { $0 }?.status.ending == .drained }

    /// What is in the way, one line each.
    var troubles: [String] {
        (intake.withLock { $0 }?.status.trouble).map { ["submissions by SQL are not taken: \($0)"] } ?? []
    }

    func run() async throws {
        let running = try OutboxIntake(terms, into: engine)
        intake.withLock { $0 = running }
        do { try await gracefulShutdown() } catch {}
        await FleetPlace.onThread("holdfast-outbox-end") { [patience] in running.stop(within: patience) }
    }
}

/// Tells applications how what they submitted by SQL ended.
final class OutcomesBySQL: Service, Sendable {
    private let terms: OutcomeOutlet.Terms
    private let engine: PushEngine
    private let owned: OwnedJournal
    private let patience: Duration
    private let outlet = Monitor<OutcomeOutlet?>(nil)

    init(_ owned: OwnedJournal, _ terms: HostTerms, _ engine: PushEngine) {
        self.terms = OutcomeOutlet.Terms(
            target: terms.target, schema: terms.schema, journal: owned.id, epoch: owned.epoch)
        self.engine = engine
        self.owned = owned
        patience = terms.closing
    }

    /// Whether all outcomes are put that there are.
    var isCaughtUp: Bool {
        guard let status = outlet.withLock({ $0 })?.status else { return false }
        return !status.isHistoryKept || status.cursor >= owned.journal.outcomeLog.newest
    }

    /// What is in the way, one line each.
    var troubles: [String] {
        (outlet.withLock { $0 }?.status.trouble).map { ["outcomes are not told to SQL: \($0)"] } ?? []
    }

    func run() async throws {
        let running = try OutcomeOutlet(terms, of: engine.outcomeReading)
        outlet.withLock { $0 = running }
        do { try await gracefulShutdown() } catch {}
        await FleetPlace.onThread("holdfast-outcomes-end") { [patience] in running.stop(within: patience) }
    }
}
