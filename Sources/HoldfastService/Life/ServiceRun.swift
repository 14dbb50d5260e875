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

    struct State: Sendable {
        var configuration: Configuration
        var routes: [ReadyRoute]
        /// Nil while none serves.
        var life: ServiceLife?
        var addresses: [String: ListenAddress] = [:]
        /// The journal is being opened, which may take as long as another process has it.
        var opening: Task<OpenedJournal, any Error>?
        /// It failed, and is opened anew when this is over.
        var pause: Task<Void, Never>?
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

    let sources: Sources
    let log: ServiceLog
    let logger: Logger
    private let options: Options
    let state: Monitor<State>
    let registry = MetricsRegistry()
    let watch = JournalWatch()
    let manager: ServiceManager?
    private let reloads: AsyncStream<Void>
    let askForReload: AsyncStream<Void>.Continuation

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
        // One that waits stands for all that came meanwhile.
        (reloads, askForReload) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Where it listens, by the protocol's name; empty until it does.
    var addresses: [String: ListenAddress] { state.withLock(\.addresses) }

    /// What serves; nil while nothing does.
    var engine: PushEngine? { state.withLock(\.life)?.engine }

    func run() async -> Outcome {
        sayWarnings()
        // From here on a signal is a word to be answered, not an end.
        let signals = options.handlesSignals ? await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup) : nil
        return await withTaskGroup(of: Void.self) { tasks in
            if let signals { tasks.addTask { await self.handle(signals) } }
            tasks.addTask { for await _ in self.reloads { await self.reload() } }
            if let admin = makeAdmin() { tasks.addTask { await self.keep(admin) } }
            if let interval = manager?.watchdogInterval { tasks.addTask { await self.feedWatchdog(every: interval) } }
            var outcome = await serve()
            let (failure, reopened) = state.withLock { ($0.failure, $0.reopened) }
            tasks.cancelAll()
            outcome.error = outcome.error ?? failure
            outcome.reopened = reopened
            return outcome
        }
    }

    /// Takes nothing new, answers what is in hand, gives what is in flight its time, and ends.
    func end() async {
        let (life, opening, pause) = state.withLock { state in
            state.isEnding = true
            state.obstacle = "ending: nothing new is taken"
            return (state.life, state.opening, state.pause)
        }
        opening?.cancel()
        pause?.cancel()
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

    /// For whoever started this process.
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
            // What can't be had at the start is somebody's to mend; what was there may come back.
            let wasServing = !addresses.isEmpty
            guard !state.withLock(\.isEnding), wasServing, failure.mayPass,
                let pause = schedule.failed(after: ContinuousClock.now - start)
            else {
                outcome.error = failure.toolError
                return outcome
            }
            let words = "\(failure.error); the journal is opened anew in \(Format.duration(pause))"
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
        let (configuration, routes, addresses, reloads) = state.withLock { state in
            (state.configuration, state.routes, state.addresses, state.reloads)
        }
        do {
            guard let opened = try await open(configuration) else { return nil }
            for warning in opened.warnings { logger.warning("\(warning)") }
            watch.reset()
            let life = try await ServiceLife(
                opened, configuration: configuration, routes: routes, at: addresses, log: log, listeners: [watch],
                metrics: registry)
            let (isWanted, isStale) = state.withLock { state in
                state.life = life
                state.addresses = life.gateway.addresses
                if !state.isEnding { state.obstacle = nil }
                return (!state.isEnding, state.reloads != reloads)
            }
            defer { state.withLock { $0.life = nil } }
            // Taken up while this life was in the making, of which it knows nothing.
            if isStale { askForReload.yield() }
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

    /// Opens the journal, and waits no longer for another owner once it is to end.
    ///
    /// - Returns: nil when it is to end.
    private func open(_ configuration: Configuration) async throws -> OpenedJournal? {
        let opening = Task { try await sources.openJournal(configuration) }
        let isWanted = state.withLock { state in
            state.opening = opening
            return !state.isEnding
        }
        if !isWanted { opening.cancel() }
        defer { state.withLock { $0.opening = nil } }
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
        sayUnserved()
    }

    private func wait(_ pause: Duration) async {
        // Cut short only when it is over anyway.
        let pause = Task { do { try await self.options.sleep(pause) } catch {} }
        let isEnding = state.withLock { state in
            state.pause = pause
            return state.isEnding
        }
        if isEnding { pause.cancel() }
        await pause.value
        state.withLock { $0.pause = nil }
    }
}
