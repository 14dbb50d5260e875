internal import CoreMetrics
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastWebhooks
internal import Logging
internal import ServiceLifecycle

/// Delivers what a host that is gone has left: an engine on a journal that was taken over, without a gateway before it.
final class TakenJournal: Sendable {
    let owned: OwnedJournal
    let engine: PushEngine
    private let webhooks: WebhookKeeper
    private let submissions: SubmissionsBySQL
    private let outcomes: OutcomesBySQL
    private let commands: CommandsOfJournal
    private let group: ServiceGroup
    private let look: Duration
    /// The names of the routes that it is delivered by.
    let routes: [String]
    /// For what is said of this journal beside its engine.
    let logger: Logger

    /// - Throws: ``JournalError`` or `RouteError`.
    init(
        _ owned: OwnedJournal, _ place: FleetPlace, orders: JournalOrders, configuration: HoldfastConfiguration,
        routes: [ReadyRoute], webhooks: [WebhookConfiguration], host: ServiceHost, metrics: any MetricsFactory,
        look: Duration = .seconds(1)
    ) async throws {
        (self.owned, self.look, self.routes) = (owned, look, routes.map(\.route.name))
        // Other engines of the process say the same of other journals.
        @Sendable func logger(_ part: String) -> Logger {
            var logger = host.logger(part)
            logger[metadataKey: "journal"] = "\(owned.name)"
            return logger
        }
        self.logger = logger("holdfast")
        // Before anything is handed out.
        try await orders.carryOut(JournalDesk(journal: owned.journal), opening: routes.map(\.route.name))
        engine = try PushEngine(
            journal: owned.journal, routes: routes.map(\.route), configuration: configuration.engine,
            logger: logger("holdfast"), metrics: [metrics], tracer: host.tracer,
            rates: place.rates.shared)
        self.webhooks = try WebhookKeeper(
            webhooks, engine: engine, directory: owned.directory, logger: logger("holdfast.webhooks"))
        let control = ControlSocket(
            desk: engine.desk, journal: owned.directory,
            further: JournalAnswers(directory: owned.directory, blacklist: place.shared.copy).requests,
            logger: logger("holdfast.control"))
        let service = ControlService(control: control) { error in
            logger("holdfast.control").warning("operators can't reach a journal that was taken over: \(error)")
        }
        submissions = SubmissionsBySQL(
            owned, place.terms, engine, takesNew: false, logger: logger("holdfast.journal"))
        outcomes = OutcomesBySQL(owned, place.terms, engine, logger: logger("holdfast.journal"))
        commands = CommandsOfJournal(owned, place.shared, engine, orders)
        group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: service, successTerminationBehavior: .ignore),
                    .init(service: commands, successTerminationBehavior: .ignore),
                    .init(service: self.webhooks, successTerminationBehavior: .ignore),
                    .init(service: outcomes, successTerminationBehavior: .ignore),
                    .init(
                        service: engine, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                    .init(service: submissions, successTerminationBehavior: .ignore),
                ], logger: logger("holdfast")))
    }

    /// Delivers until nothing is left, or until it is ended.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                // Cancelled when it has ended otherwise.
                do { while !self.isOver { try await Task.sleep(for: self.look) } } catch {}
                await self.group.triggerGracefulShutdown()
            }
            defer { tasks.cancelAll() }
            try await self.group.run()
        }
    }

    private var isOver: Bool {
        owned.ending != nil
            || submissions.isDrained && owned.isDrained && engine.status().inFlight == 0 && outcomes.isCaughtUp
    }

    /// What is in the way.
    var troubles: [FleetTrouble] { FleetTrouble.of(owned, submissions, outcomes).map(\.ofTakenOver) }

    /// The journal's figures; none where it is closed, or fails, which whoever needs it says.
    var status: JournalStatus {
        do throws(JournalError) { return try owned.journal.status() } catch { return JournalStatus() }
    }

    func end() async { await group.triggerGracefulShutdown() }
}
