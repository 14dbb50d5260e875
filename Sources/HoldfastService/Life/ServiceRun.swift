package import Holdfast
package import HoldfastGateway
package import HoldfastPostgres
internal import HoldfastWebhooks
package import Logging

/// Serves senders, and delivers what they hand over, until it is told to end, or an error needs an operator.
///
/// A stopped lane, or a push service that is away, does not end the run: operators see it from outside. When the journal
/// fails (a commit of which nobody knows whether it is on disk), it is closed and opened anew, by ``ReopenSchedule``.
package final class ServiceRun: Sendable {
    /// How it ended.
    package struct Outcome: Sendable {
        /// The error that ended it, instead of ``ServiceRun/end()``: a ``JournalError``, ``GatewayError`` or `RouteError`.
        package var error: (any Error)?
        /// How often the journal was opened anew.
        package var reopened = 0
        /// The number of entries left in the journal, if it is known.
        package var left: Int?
    }

    struct State: Sendable {
        var configuration: HoldfastConfiguration
        var routes: [ReadyRoute]
        /// `nil` before the first reload.
        var webhooks: [WebhookConfiguration]?
        /// `nil` while none serves.
        var life: ServiceLife?
        var addresses: [String: ListenAddress] = [:]
        /// What the admin listener asks of those who want to know more than health and metrics; nil where nobody may.
        var operatorToken: OperatorToken?
        /// The journal is being opened, which may take as long as another process has it.
        var opening: Task<OpenedJournal, any Error>?
        /// What that waits for, which nobody here can do anything about.
        var wait: OpeningWait?
        /// It failed, and is opened anew when this is over.
        var pause: Task<Void, Never>?
        /// Why none serves, for those who ask whether it is ready.
        var obstacle: String? = "starting"
        /// Why the journal is opened anew; nil while it is open, or has not failed.
        var journalFailure: JournalFailure?
        var isEnding = false
        /// The error beside the journal that ended it.
        var failure: (any Error)?
        /// The last that was asked for; each waits for the one before it.
        var reload: Task<[String], any Error>?
        var reopened = 0
        var reloads = 0
        var failedReloads = 0
        /// Why the configuration that was read last was not taken up, and since when none was; nil for one that was.
        var refusedReload: (words: String, since: WallTime)?
    }

    /// How a journal is opened, a configuration read again, and a pause waited out.
    package struct Sources: Sendable {
        /// The record takes what befalls journals in a database; the function is told what the opening waits for, and `nil` when it waits for nothing any more.
        package typealias OpenJournal =
            @Sendable (
                HoldfastConfiguration, FleetRecord, Logger, @escaping @Sendable (OpeningWait?) -> Void
            ) async throws -> OpenedJournal

        package var openJournal: OpenJournal = {
            try await OpenedJournal.open($0, $1, logger: $2, onWaiting: $3)
        }
        /// The configuration as it is now; nil for what was taken up last.
        package var load: (@Sendable () throws -> HoldfastConfiguration)?
        /// Waits before the journal is opened once more.
        package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

        package init(load: (@Sendable () throws -> HoldfastConfiguration)? = nil) { self.load = load }
    }

    let sources: Sources
    let host: ServiceHost
    let logger: Logger
    let state: Monitor<State>
    let registry = MetricsRegistry()
    /// Of this host's journals in a database, however often they are opened.
    let record = FleetRecord()
    let watch = JournalWatch()
    let meter = PageMeter()
    let samples = PageSamples()
    let start = EngineClock.system.wall()
    let findings: ServiceConditions
    /// The same, of journals that were taken over, by their numbers.
    let takenFindings = Monitor<[Int32: ServiceConditions]>([:])
    /// Nil while the configuration names no collector, and where the application traces by itself.
    let exporter: SpanExporter?
    private let reloads: AsyncStream<Void>
    private let reloadRequests: AsyncStream<Void>.Continuation

    package init(_ configuration: HoldfastConfiguration, routes: [ReadyRoute], host: ServiceHost, sources: Sources) {
        self.sources = sources
        var host = host
        exporter =
            host.tracer == nil ? SpanExporter(configuration.traces, logger: host.logger("holdfast.traces")) : nil
        host.tracer = host.tracer ?? exporter?.tracer
        self.host = host
        logger = host.logger("holdfast")
        findings = ServiceConditions(logger, interval: configuration.log.interval)
        state = Monitor(State(configuration: configuration, routes: routes))
        // One that waits stands for all that came meanwhile.
        (reloads, reloadRequests) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Where it listens, by the protocol's name; empty until it does.
    package var addresses: [String: ListenAddress] { state.withLock(\.addresses) }

    /// The life that serves; `nil` while none does.
    package var engine: PushEngine? { state.withLock(\.life)?.engine }

    package func run() async -> Outcome {
        sayWarnings()
        exporter?.start()
        let outcome = await runParts()
        await exporter?.end(within: Self.exportLimit)
        return outcome
    }

    /// How long the last spans are waited for.
    private static let exportLimit = Duration.seconds(3)

    private func runParts() async -> Outcome {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { for await _ in self.reloads { await self.reload() } }
            if let admin = makeAdmin() {
                tasks.addTask { await self.keep(admin) }
                if self.hasPage { tasks.addTask { await self.sampler.run() } }
            }
            tasks.addTask { await self.watchConditions() }
            var outcome = await serve()
            let (failure, reopened) = state.withLock { state in
                state.obstacle = state.obstacle ?? "ended"
                return (state.failure, state.reopened)
            }
            tasks.cancelAll()
            outcome.error = outcome.error ?? failure
            outcome.reopened = reopened
            return outcome
        }
    }

    /// Takes nothing new, answers what is in hand, gives what is in flight its time, and ends.
    package func end() async {
        let (life, opening, pause) = state.withLock { state in
            state.isEnding = true
            state.obstacle = "ending: nothing new is taken"
            return (state.life, state.opening, state.pause)
        }
        opening?.cancel()
        pause?.cancel()
        await host.tell(.stopping)
        await life?.end()
    }

    /// Has the configuration read again before long, and does not wait for it.
    package func askForReload() { reloadRequests.yield() }

    /// One line for a service manager.
    var status: String {
        let addresses = addresses.sorted { $0.key < $1.key }.map { "\($0.key) on \($0.value)" }
        return health.obstacles.first ?? "serving " + addresses.joined(separator: ", ")
    }

    // MARK: Lives

    private func serve() async -> Outcome {
        var outcome = Outcome()
        var schedule = ReopenSchedule()
        while !state.withLock({ $0.isEnding || $0.failure != nil }) {
            let start = ContinuousClock.now
            guard let failure = await live(&outcome).map(ServiceFailure.init) else { return outcome }
            // A fault at the start needs somebody to fix it; what worked before may come back by itself.
            let isTriedAgain = !addresses.isEmpty || failure.isOfLostCopy
            guard !state.withLock(\.isEnding), isTriedAgain, failure.mayPass,
                let pause = schedule.failed(after: ContinuousClock.now - start, counts: failure.counts)
            else {
                outcome.error = failure.error
                return outcome
            }
            let words = "\(failure.error); the journal is opened anew in \(Format.duration(pause))"
            state.withLock { state in
                state.reopened += 1
                state.journalFailure = JournalFailure(words: words, isLeft: !failure.counts)
                state.obstacle = state.isEnding ? state.obstacle : words
            }
            _ = conditions
            await host.tell(.status(words))
            await wait(pause)
        }
        return outcome
    }

    /// From the opening of the journal to its closing.
    ///
    /// - Returns: what ended it, other than ``end()``.
    private func live(_ outcome: inout Outcome) async -> (any Error)? {
        let (configuration, routes, addresses, reloads) = state.withLock { state in
            (state.configuration, state.routes, state.addresses, state.reloads)
        }
        do {
            // As they were last taken up; at the start, as they were found good.
            let webhooks =
                try state.withLock(\.webhooks) ?? configuration.webhooks.map { try ReadyWebhook($0).configuration }
            guard let opened = try await open(configuration) else { return nil }
            for warning in opened.warnings { logger.warning("\(warning)") }
            watch.reset()
            let life = try await ServiceLife(
                opened, configuration: configuration, routes: routes, webhooks: webhooks, at: addresses, host: host,
                listeners: [watch, meter],
                metrics: engineMetrics, means: { [self] in try means() })
            let (isWanted, isStale) = state.withLock { state in
                state.life = life
                state.addresses = life.gateway.addresses
                if !state.isEnding { state.obstacle = nil }
                state.journalFailure = nil
                return (!state.isEnding, state.reloads != reloads)
            }
            defer { state.withLock { $0.life = nil } }
            // Taken up while this life was in the making, of which it knows nothing.
            if isStale { askForReload() }
            if isWanted {
                sayServing(life)
                await host.tell(.ready(status))
            } else {
                await life.end()
            }
            try await life.run()
            outcome.left = life.engine.status().unconfirmed
            return nil
        } catch {
            return error
        }
    }

    /// The configuration as it is now, with connectors of its own.
    private func means() throws -> (HoldfastConfiguration, [ReadyRoute], [WebhookConfiguration]) {
        let (configuration, webhooks) = state.withLock { ($0.configuration, $0.webhooks) }
        return (
            configuration, try ServicePlan.routes(configuration),
            try webhooks ?? configuration.webhooks.map { try ReadyWebhook($0).configuration }
        )
    }

    /// Opens the journal, and waits no longer for another owner once it is to end.
    ///
    /// - Returns: nil when it is to end.
    private func open(_ configuration: HoldfastConfiguration) async throws -> OpenedJournal? {
        let opening = Task {
            try await sources.openJournal(configuration, record, logger) { [state] wait in
                state.withLock { $0.wait = wait }
            }
        }
        let isWanted = state.withLock { state in
            state.opening = opening
            return !state.isEnding
        }
        if !isWanted { opening.cancel() }
        defer {
            state.withLock { state in
                state.opening = nil
                state.wait = nil
            }
        }
        do {
            return try await withTaskCancellationHandler {
                try await opening.value
            } onCancel: {
                opening.cancel()
            }
        } catch is CancellationError where state.withLock(\.isEnding) {
            return nil
        }
    }

    private func sayServing(_ life: ServiceLife) {
        for (name, address) in life.gateway.addresses.sorted(by: { $0.key < $1.key }) {
            logger.info("serving \(name) on \(address)")
        }
        let left = life.engine.status().unconfirmed
        if left > 0 { logger.info("\(Format.plural(left, "notification")) of before are delivered first") }
        _ = conditions
    }

    private func wait(_ pause: Duration) async {
        // Cut short only when it is over anyway.
        let pause = Task { do { try await self.sources.sleep(pause) } catch {} }
        let isEnding = state.withLock { state in
            state.pause = pause
            return state.isEnding
        }
        if isEnding { pause.cancel() }
        await pause.value
        state.withLock { $0.pause = nil }
    }
}
