internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastWebhooks
internal import Logging
internal import ServiceLifecycle

/// From the opening of a journal to its closing: an engine, the gateway before it, and what goes beside.
///
/// A service has several of them one after the other only where its journal fails and is opened anew.
final class ServiceLife: Sendable {
    let engine: PushEngine
    let gateway: Gateway
    private let feedback: FeedbackKeeper
    private let webhooks: WebhookKeeper
    private let followed: FollowedNotifications
    /// The journals of other hosts; nil where the journal is a directory's.
    let fleet: FleetKeeper?
    /// Of the routes whose feedback is read.
    private let feedbackSettings: Monitor<[RouteSettings]>
    private let host: ServiceHost
    private let opened: OpenedJournal
    private let group: ServiceGroup

    /// Listens from when it returns.
    ///
    /// - Parameters:
    ///   - addresses: where listeners were before, by name.
    ///   - webhooks: with their files read.
    ///   - metrics: where the figures of engines go.
    ///   - means: what journals of other hosts are delivered with.
    /// - Throws: ``JournalError``, `RouteError` or ``GatewayError``; then the journal is closed.
    init(
        _ opened: OpenedJournal, configuration: HoldfastConfiguration, routes: [ReadyRoute],
        webhooks: [WebhookConfiguration], at addresses: [String: ListenAddress], host: ServiceHost,
        listeners: [any MetricsListener], metrics: EngineMetrics, means: @escaping FleetKeeper.Means
    ) async throws {
        self.opened = opened
        do {
            // Before the gateway listens, and before anything is handed out.
            try await opened.fleet?.orders.carryOut(
                JournalDesk(journal: opened.journal), opening: routes.map(\.route.name))
            engine = try PushEngine(
                journal: opened.journal, routes: routes.map(\.route), configuration: configuration.engine,
                logger: host.logger("holdfast"), listeners: listeners, metrics: metrics.own,
                tracer: host.tracer, rates: opened.fleet?.rates.shared ?? SharedRates())
            self.webhooks = try WebhookKeeper(
                webhooks, engine: engine, directory: opened.directory, logger: host.logger("holdfast.webhooks"))
            gateway = try await Gateway(
                configuration.gatewayConfiguration(at: addresses), engine: engine,
                logger: host.logger("holdfast.gateway"))
        } catch {
            opened.close()
            throw error
        }
        self.host = host
        followed = FollowedNotifications(
            configuration.log.follow, engine: engine, logger: host.logger("holdfast.notifications"))
        fleet = opened.fleet.map { [engine] in
            FleetKeeper($0, engine, host: host, metrics: metrics, means: means)
        }
        feedback = FeedbackKeeper(
            Self.readers(of: routes, engine, host), logger: host.logger("holdfast.feedback"))
        feedbackSettings = Monitor(routes.map(\.settings))
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        // The first to come is the last to go: operators are served until the engine has ended.
        if let directory = opened.directory {
            let answers = JournalAnswers(directory: directory, blacklist: opened.fleet?.shared.copy)
            let control = ControlSocket(
                desk: engine.desk, journal: directory, further: answers.requests,
                logger: host.logger("holdfast.control"))
            let service = ControlService(control: control) { error in
                host.logger("holdfast.control").warning("operators can't reach this process: \(error)")
            }
            services.append(.init(service: service, successTerminationBehavior: .ignore))
        }
        let outcomes = opened.fleet.map { [engine] in
            OutcomesBySQL($0.own, $0.terms, engine, logger: host.logger("holdfast.journal"))
        }
        if let place = opened.fleet, let outcomes {
            let commands = CommandsOfJournal(place.own, place.shared, engine, place.orders)
            services += [
                .init(service: commands, successTerminationBehavior: .ignore),
                .init(service: place.shared, successTerminationBehavior: .ignore),
                .init(service: outcomes, successTerminationBehavior: .ignore),
            ]
        }
        services += [
            // Told to the end: it goes on until the engine has ended.
            .init(service: self.webhooks, successTerminationBehavior: .ignore),
            .init(service: followed, successTerminationBehavior: .ignore),
            .init(
                service: engine, successTerminationBehavior: .gracefullyShutdownGroup,
                failureTerminationBehavior: .gracefullyShutdownGroup),
            .init(service: feedback, successTerminationBehavior: .ignore),
        ]
        if let fleet, let outcomes, let place = opened.fleet {
            let submissions = SubmissionsBySQL(
                place.own, place.terms, engine, takesNew: true, restraint: fleet.restraint,
                logger: host.logger("holdfast.journal"))
            fleet.watch(submissions, outcomes)
            services += [
                .init(service: fleet, successTerminationBehavior: .ignore),
                .init(service: submissions, successTerminationBehavior: .ignore),
            ]
        }
        services += [
            // Listed behind the engine, it answers what is in hand before the engine ends.
            .init(service: gateway, successTerminationBehavior: .gracefullyShutdownGroup)
        ]
        group = ServiceGroup(configuration: .init(services: services, logger: host.logger("holdfast")))
    }

    /// Serves until it is ended, or can't any more; then the journal is closed.
    ///
    /// - Throws: ``JournalError`` when the journal must be opened anew.
    func run() async throws {
        defer { opened.close() }
        try await group.run()
    }

    /// See ``OpenedJournal/wantsRoom``.
    var wantsRoom: Bool? { opened.wantsRoom?() }

    /// Seals with the first of these keys from now on.
    func useKeys(_ keys: JournalKeys) throws(JournalError) { try opened.useKeys?(keys) }

    /// Why nothing can be kept now; nil where it can.
    var away: JournalError? { opened.fleet?.own.refusal }

    /// Where the journal can be read beside the engine; nil for one that has no directory.
    var place: (directory: String, blacklist: String?)? {
        opened.directory.map { ($0, opened.fleet?.shared.copy) }
    }

    /// The name of a journal in PostgreSQL; nil for a directory's own.
    var journalName: String? { opened.fleet?.own.name }

    /// The figures of the journal as of its last commit.
    func journalStatus() throws(JournalError) -> JournalStatus { try opened.journal.status() }

    /// What the journal has of ended notifications, and who reads it.
    func history() throws(JournalError) -> OutcomeLogStatus {
        try OutcomeLogReading(opened.journal).status(
            isKept: try opened.journal.note(OutcomeKeeping.noteName) != nil, readers: opened.journal.outcomeReaders)
    }

    /// Takes nothing new, answers what is in hand, and ends.
    func end() async { await group.triggerGracefulShutdown() }

    /// Opens the lanes of routes that are about to be served, each paused where an order to the whole fleet wants that.
    ///
    /// - Throws: ``JournalError``.
    func open(_ routes: [ReadyRoute]) async throws {
        try await opened.fleet?.orders.carryOut(engine.fleetOrderDesk, opening: routes.map(\.route.name))
    }

    /// Tells these webhooks from now on, and no others.
    func tell(_ webhooks: [WebhookConfiguration]) { self.webhooks.exchange(webhooks) }

    /// Logs a line for each of these notifications from now on, and of no others.
    func follow(_ wanted: LogFollow) { followed.exchange(wanted) }

    /// How the webhooks do.
    var webhookStandings: [WebhookStanding] { webhooks.standings }

    /// Reads these routes' feedback from now on; where their settings are what they were, reading goes on as it is.
    func readFeedback(of routes: [ReadyRoute]) {
        let isSame = feedbackSettings.withLock { settings in
            defer { settings = routes.map(\.settings) }
            return settings == routes.map(\.settings)
        }
        if !isSame { feedback.exchange(Self.readers(of: routes, engine, host)) }
    }

    private static func readers(of routes: [ReadyRoute], _ engine: PushEngine, _ host: ServiceHost) -> [FeedbackReader]
    {
        routes.compactMap { route in
            guard let source = route.feedback else { return nil }
            var configuration = FeedbackReader.Configuration()
            if let interval = route.settings.feedback?.interval { configuration.interval = interval }
            return FeedbackReader(
                source, blacklist: engine.blacklist, route: route.settings.name, scope: route.feedbackScope,
                configuration: configuration, logger: host.logger("holdfast.feedback"))
        }
    }
}
