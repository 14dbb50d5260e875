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
        /// How long to wait before the journal is opened once more, or not at all.
        var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    }

    private struct State: Sendable {
        var configuration: Configuration
        var routes: [ReadyRoute]
        /// Nil while none serves.
        var life: ServiceLife?
        var addresses: [String: ListenAddress] = [:]
        var isEnding = false
    }

    private let openJournal: @Sendable (Configuration) async throws -> OpenedJournal
    private let log: ServiceLog
    private let logger: Logger
    private let options: Options
    private let state: Monitor<State>
    private let ending: AsyncStream<Never>
    private let finishEnding: AsyncStream<Never>.Continuation

    init(
        _ configuration: Configuration, routes: [ReadyRoute], log: ServiceLog, options: Options = Options(),
        openJournal: @escaping @Sendable (Configuration) async throws -> OpenedJournal
    ) {
        self.openJournal = openJournal
        self.log = log
        self.options = options
        logger = log.logger()
        state = Monitor(State(configuration: configuration, routes: routes))
        (ending, finishEnding) = AsyncStream.makeStream()
    }

    /// Where it listens, by the protocol's name; empty until it does.
    var addresses: [String: ListenAddress] { state.withLock(\.addresses) }

    func run() async -> Outcome {
        // From here on a signal is a word to be answered, not an end.
        let signals = options.handlesSignals ? await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup) : nil
        return await withTaskGroup(of: Void.self) { tasks in
            if let signals { tasks.addTask { await self.handle(signals) } }
            let outcome = await serve()
            tasks.cancelAll()
            return outcome
        }
    }

    /// Takes nothing new, answers what is in hand, gives what is in flight its time, and ends.
    func end() async {
        let life = state.withLock { state in
            state.isEnding = true
            return state.life
        }
        finishEnding.finish()
        await life?.end()
    }

    private func handle(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            switch signal {
            case .sighup:
                logger.notice("SIGHUP: nothing is taken up yet")
            default:
                logger.info("\(signal): ending, with what is in hand")
                await end()
            }
        }
    }

    // MARK: Lives

    private func serve() async -> Outcome {
        var outcome = Outcome()
        var schedule = ReopenSchedule()
        while !state.withLock(\.isEnding) {
            let start = ContinuousClock.now
            guard let failure = await live(&outcome) else { return outcome }
            let isFirst = outcome.reopened == 0 && addresses.isEmpty
            guard !state.withLock(\.isEnding), Self.mayPass(failure), !isFirst,
                let pause = schedule.failed(after: ContinuousClock.now - start)
            else {
                outcome.error = Self.told(failure)
                return outcome
            }
            outcome.reopened += 1
            logger.error("\(failure); the journal is opened anew in \(Format.duration(pause))")
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
            let opened = try await openJournal(configuration)
            let life = try await ServiceLife(
                opened, configuration: configuration, routes: routes, at: addresses, log: log)
            let isWanted = state.withLock { state in
                state.life = life
                state.addresses = life.gateway.addresses
                return !state.isEnding
            }
            if !isWanted { await life.end() }
            sayServing(life, configuration)
            defer { state.withLock { $0.life = nil } }
            try await life.run()
            outcome.left = life.engine.status().unconfirmed
            return nil
        } catch {
            return error
        }
    }

    private func sayServing(_ life: ServiceLife, _ configuration: Configuration) {
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
