internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Serves senders, and delivers what they hand over, until a signal comes or somebody has to mend something.
///
/// That a lane stops, or that the push service is away, ends nothing: it is seen from outside. When the journal fails (a
/// commit of which nobody knows whether it is on disk), it is closed and opened anew, by ``ReopenSchedule``.
final class ServiceRun: Sendable {
    /// How it ended.
    struct Outcome: Sendable {
        var error: ToolError?
        /// How often the journal was opened anew.
        var reopened = 0
        /// What was left in the journal, as far as is known.
        var left: Int?

        var status: ToolStatus { error?.status ?? .ok }
    }

    struct Options: Sendable {
        /// Whether SIGINT and SIGTERM end it in order. False in tests.
        var handlesSignals = true
        /// What the process was started with, for whom started it.
        var environment = ProcessInfo.processInfo.environment
        /// Waits before the journal is opened once more.
        var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    }

    private struct State: Sendable {
        var configuration: Configuration
        var routes: [ReadyRoute]
        /// Nil while none serves.
        var life: ServiceLife?
        var addresses: [String: ListenAddress] = [:]
        /// Why none serves, for those who ask whether it is ready.
        var obstacle: String? = "starting"
        var isEnding = false
        /// What was wrong beside the journal, and ended it.
        var failure: ToolError?
        var reopened = 0
        var reloads = 0
        var failedReloads = 0
    }

    /// What the command gives: how a configuration is read and a journal opened.
    struct Sources: Sendable {
        var openJournal: @Sendable (Configuration) async throws -> OpenedJournal
        /// The configuration as it is now, with the command's flags over it, and everything in it checked.
        var load: @Sendable () throws -> Configuration
    }

    private let sources: Sources
    private let log: ServiceLog
    private let logger: Logger
    private let options: Options
    private let state: Monitor<State>
    private let registry = MetricsRegistry()
    private let watch = JournalWatch()
    private let manager: ServiceManager?
    private let ending: AsyncStream<Never>
    private let finishEnding: AsyncStream<Never>.Continuation
    private let reloads: AsyncStream<Void>
    private let askForReload: AsyncStream<Void>.Continuation

    init(
        _ configuration: Configuration, routes: [ReadyRoute], log: ServiceLog, options: Options = Options(),
        sources: Sources
    ) {
        self.sources = sources
        self.log = log
        self.options = options
        logger = log.logger()
        manager = ServiceManager(options.environment, logger: logger)
        state = Monitor(State(configuration: configuration, routes: routes))
        (ending, finishEnding) = AsyncStream.makeStream()
        // One that waits stands for all that came meanwhile.
        (reloads, askForReload) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Where it listens, by the protocol's name; empty until it does.
    var addresses: [String: ListenAddress] { state.withLock(\.addresses) }

    /// What serves; nil while nothing does.
    var engine: PushEngine? { state.withLock(\.life)?.engine }

    func run() async -> Outcome {
        // From here on a signal is a word to be answered, not an end.
        let signals = options.handlesSignals ? await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup) : nil
        return await withTaskGroup(of: Void.self) { tasks in
            if let signals { tasks.addTask { await self.handle(signals) } }
            tasks.addTask { for await _ in self.reloads { await self.reload() } }
            if let admin = makeAdmin() { tasks.addTask { await self.keep(admin) } }
            if let interval = manager?.watchdogInterval { tasks.addTask { await self.feedWatchdog(every: interval) } }
            var outcome = await serve()
            tasks.cancelAll()
            let (failure, reopened) = state.withLock { ($0.failure, $0.reopened) }
            outcome.error = outcome.error ?? failure
            outcome.reopened = reopened
            return outcome
        }
    }

    /// Takes nothing new, answers what is in hand, gives what is in flight its time, and ends.
    func end() async {
        let life = state.withLock { state in
            state.isEnding = true
            state.obstacle = "ending: nothing new is taken"
            return state.life
        }
        finishEnding.finish()
        await manager?.tell(.stopping)
        await life?.end()
    }

    private func handle(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            switch signal {
            case .sighup:
                askForReload.yield()
            default:
                logger.info("\(signal): ending, with what is in hand")
                await end()
            }
        }
    }

    private func feedWatchdog(every interval: Duration) async {
        while !Task.isCancelled {
            await manager?.tell(.watchdog)
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    // MARK: Operators

    private func makeAdmin() -> AdminServer? {
        let settings = state.withLock(\.configuration.admin)
        guard let listen = settings.listen else { return nil }
        var configuration = AdminConfiguration(listen: listen)
        configuration.servesEverybody = settings.everybody
        configuration.connections = settings.connections
        do throws(GatewayError) {
            return try AdminServer(
                configuration, logger: log.logger("holdfast.admin"), health: { [self] in health },
                metrics: { [self] in metrics })
        } catch {
            state.withLock { $0.failure = Self.told(error) }
            return nil
        }
    }

    private func keep(_ admin: AdminServer) async {
        do {
            try await admin.run()
        } catch {
            state.withLock { $0.failure = Self.told(error) }
            await end()
        }
    }

    /// Whether senders are served, and why not.
    var health: Health {
        let obstacle = state.withLock(\.obstacle)
        return Health(obstacles: [obstacle ?? watch.obstacle()].compactMap(\.self))
    }

    private var metrics: String {
        let (state, isReady) = (state.withLock { $0 }, health.isReady)
        return registry.text(
            (state.life?.gateway.metricFamilies ?? []) + ProcessMetrics.families + [
                MetricFamily("holdfast_ready", .gauge, "1 while senders are served.", isReady ? 1 : 0),
                MetricFamily(
                    "holdfast_journal_reopened_total", .counter, "Times that the journal failed and was opened anew.",
                    Double(state.reopened)),
                MetricFamily(
                    "holdfast_reloads_total", .counter, "Times that the configuration was read again, by result.",
                    samples: [
                        .init(labels: [("result", "taken")], value: Double(state.reloads)),
                        .init(labels: [("result", "refused")], value: Double(state.failedReloads)),
                    ]),
            ])
    }

    // MARK: Another configuration

    /// Reads the configuration again and takes it up, all of it or nothing; says what is wrong, or waits for a restart.
    func reload() async {
        await manager?.tell(.reloading)
        do {
            try await takeUp(try sources.load())
            state.withLock { $0.reloads += 1 }
        } catch {
            state.withLock { $0.failedReloads += 1 }
            logger.error("the configuration was read again and is not taken up; everything stays as it was: \(error)")
        }
        await manager?.tell(.ready(status))
    }

    private func takeUp(_ new: Configuration) async throws {
        let (old, oldRoutes, life, addresses) = state.withLock { state in
            (state.configuration, state.routes, state.life, state.addresses)
        }
        let reload = try ServiceReload(from: old, oldRoutes, to: new)
        var changes: Reconfiguration?
        if let life {
            // What may yet fail comes first; what it has changed by then is what files say, which is taken up anyway.
            for route in reload.kept { try await route.reloadCredentials() }
            changes = try await life.engine.reconfigure(
                routes: reload.routes.map(\.route), configuration: reload.configuration.engine)
            do {
                try life.gateway.reload(
                    reload.configuration.gateway.configuration(routes: reload.configuration.routes, at: addresses))
            } catch {
                // Its files were read a moment ago. All or nothing, all the same.
                try await life.engine.reconfigure(routes: oldRoutes.map(\.route), configuration: old.engine)
                throw error
            }
            life.feedback.exchange(ServiceLife.readers(of: reload.routes, life.engine, log))
        }
        log.leastLevel = new.log.level ?? .info
        state.withLock { state in
            state.configuration = reload.configuration
            state.routes = reload.routes
        }
        logger.notice(
            "the configuration was read again and is taken up; routes: \(changes?.description ?? "as it says")")
        if !reload.needsRestart.isEmpty {
            logger.warning("waits for a restart, and is as it was: \(reload.needsRestart.joined(separator: ", "))")
        }
    }

    /// For whoever started this process.
    private var status: String {
        let addresses = addresses.sorted { $0.key < $1.key }.map { "\($0.key) on \($0.value)" }
        return health.obstacles.first ?? "serving " + addresses.joined(separator: ", ")
    }

    // MARK: Lives

    private func serve() async -> Outcome {
        var outcome = Outcome()
        var schedule = ReopenSchedule()
        while !state.withLock({ $0.isEnding || $0.failure != nil }) {
            let start = ContinuousClock.now
            guard let failure = await live(&outcome) else { return outcome }
            // What can't be had at the start is somebody's to mend; what was there may come back.
            let wasServing = !addresses.isEmpty
            guard !state.withLock(\.isEnding), wasServing, Self.mayPass(failure),
                let pause = schedule.failed(after: ContinuousClock.now - start)
            else {
                outcome.error = Self.told(failure)
                return outcome
            }
            let words = "\(failure); the journal is opened anew in \(Format.duration(pause))"
            state.withLock { state in
                state.reopened += 1
                state.obstacle = state.isEnding ? state.obstacle : words
            }
            logger.error("\(words)")
            await manager?.tell(.status(words))
            await wait(pause)
        }
        return outcome
    }

    /// From the opening of the journal to its closing.
    ///
    /// - Returns: what ended it, other than ``end()``.
    private func live(_ outcome: inout Outcome) async -> (any Error)? {
        let (configuration, routes, addresses) = state.withLock { ($0.configuration, $0.routes, $0.addresses) }
        do {
            let opened = try await sources.openJournal(configuration)
            watch.reset()
            let life = try await ServiceLife(
                opened, configuration: configuration, routes: routes, at: addresses, log: log, listeners: [watch],
                metrics: registry)
            let isWanted = state.withLock { state in
                state.life = life
                state.addresses = life.gateway.addresses
                if !state.isEnding { state.obstacle = nil }
                return !state.isEnding
            }
            defer { state.withLock { $0.life = nil } }
            if isWanted {
                sayServing(life)
                await manager?.tell(.ready(status))
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

    private func sayServing(_ life: ServiceLife) {
        for (name, address) in life.gateway.addresses.sorted(by: { $0.key < $1.key }) {
            logger.info("serving \(name) on \(address)")
        }
        let left = life.engine.status().unconfirmed
        if left > 0 { logger.info("\(Format.plural(left, "notification")) of before are delivered first") }
    }

    private func wait(_ pause: Duration) async {
        await withTaskGroup(of: Void.self) { tasks in
            // Cut short only when it is over anyway.
            tasks.addTask { do { try await self.options.sleep(pause) } catch {} }
            tasks.addTask { for await _ in self.ending {} }
            await tasks.next()
            tasks.cancelAll()
        }
    }

    /// Whether trying again may help: the journal has failed, or what it lies on, or an address is taken for the moment.
    private static func mayPass(_ failure: any Error) -> Bool {
        switch failure {
        case let error as JournalError: error.code != .ownedByAnotherProcess && error.code != .newerFormat
        case let error as GatewayError: error.kind == .cannotListen
        default: false
        }
    }

    private static func told(_ failure: any Error) -> ToolError {
        if let failure = failure as? GatewayError {
            return ToolError(failure.kind == .cannotListen ? .unavailable : .configuration, failure.message)
        }
        return ToolError(failure, otherwise: failure is RouteError ? .configuration : .internalFault)
    }
}
