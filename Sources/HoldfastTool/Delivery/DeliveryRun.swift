internal import Holdfast
internal import HoldfastControl
internal import HoldfastService
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Delivers what a journal holds, while an input is taken into it, until nothing is left to do, a signal comes, or
/// somebody has to mend something.
struct DeliveryRun {
    struct Options: Sendable {
        /// How long the service may be away, or nothing come to its end, in one piece; nil for ever.
        var giveUpAfter: Duration?
        /// Take the input, and send nothing.
        var isQueueOnly = false
        /// How long a full journal is waited for; nil for as long as it is not in vain.
        var fullLimit: Duration?
        /// Whether SIGINT and SIGTERM end it in order. False in tests.
        var handlesSignals = true
        /// The engine's.
        var routes: [Route] = []
        /// Read beside sending; that they fail ends nothing.
        var feedback: [FeedbackReader] = []
        /// Serves operators meanwhile; that it can't ends nothing.
        var control: ControlSocket?
        /// Is told what becomes of a file.
        var ledger: SendLedger?
    }

    /// How it ended: figures, and what ended it before its time.
    struct Outcome {
        var summary: DeliverySummary
        var error: ToolError?

        var status: ToolStatus { summary.status(error: error) }
    }

    enum Event: Sendable {
        case serviceEnded((any Error)?)
        case inputEnded
        case resting(EngineRest)
        case trouble(ToolError)
        case drained(String)
        case watchEnded
    }

    let journal: any JournalService
    let engine: PushEngine
    let console: Console
    let logger: Logger
    var options = Options()

    /// How often the progress line is drawn and the connection looked at.
    static let look: Duration = .milliseconds(200)

    func run(_ intake: Intake) async -> Outcome {
        let start = ContinuousClock.now
        var outcome = Outcome(summary: DeliverySummary())
        guard let before = unconfirmedNow(&outcome) else {
            outcome.summary.left = nil
            return outcome
        }
        var begin = FeedReport()
        if case .nothing = intake { begin.finished = true }
        let report = Monitor(begin)
        outcome.error = await perform(intake, report: report, &outcome.summary)
        console.showStatus("")

        let taken = report.withLock { $0 }
        outcome.error = outcome.error ?? taken.error
        fill(&outcome.summary, from: taken, elapsed: ContinuousClock.now - start)
        outcome.summary.leftFromBefore = before
        outcome.summary.queueOnly = options.isQueueOnly
        outcome.summary.left = unconfirmedNow(&outcome)
        switch intake {
        case .nothing: break
        case .file(let task):
            outcome.summary.file = task.input.file.name
            outcome.summary.resumedAtLine = task.place.progress.map { $0.lines + 1 }
        case .notifications(let notifications): fill(&outcome, notifications, from: taken)
        }
        outcome.summary.error = outcome.error?.message
        outcome.summary.exitCode = outcome.status.rawValue
        return outcome
    }

    /// - Returns: what ended it before its time, if something did.
    private func perform(
        _ intake: Intake, report: Monitor<FeedReport>, _ summary: inout DeliverySummary
    ) async -> ToolError? {
        let group = serviceGroup()
        return await withTaskGroup(of: Event.self) { tasks in
            tasks.addTask { await Self.run(group) }
            if !options.isQueueOnly { tasks.addTask { await watch(report) } }
            if let ledger = options.ledger { tasks.addTask { await follow(ledger) } }
            let quietPeriods = quietPeriods
            if !quietPeriods.isEmpty {
                let events = engine.events()
                tasks.addTask { await sayCleared(events, quietPeriods) }
            }
            if case .notifications = intake, let first = nextUID() {
                let events = engine.events(buffering: 2 * NotificationLine.maximumTokenCount)
                tasks.addTask { await noteUniqueIDs(events, from: first, in: report) }
            }
            tasks.addTask {
                await feed(report).run(intake)
                return .inputEnded
            }
            var error: ToolError?
            var isEnding = false
            for await event in tasks {
                switch event {
                case .inputEnded:
                    if let failure = report.withLock(\.error) {
                        console.error(failure.message + (options.isQueueOnly ? "" : "; \(intake.afterFailure)"))
                        error = error ?? failure
                    }
                    guard !isEnding else { break }
                    if options.isQueueOnly {
                        isEnding = true
                        await group.triggerGracefulShutdown()
                    } else {
                        tasks.addTask { .resting(await engine.untilIdle()) }
                        for producer in intake.saysDrained ? producersWithBacklog() : [] {
                            tasks.addTask { await producer.untilDrained() ? .drained(producer.name) : .watchEnded }
                        }
                    }
                case .drained(let name):
                    let end =
                        journal.quarantinedCount == 0
                        ? "every notification has its outcome" : "and what cannot be read has no outcome"
                    console.note("producer \(name): drained, \(end)")
                case .resting(.stopped) where !isEnding && !pausedLanes.isEmpty:
                    tasks.addTask { await sitOutPause() }
                case .resting(let rest):
                    if case .stopped(let reason) = rest {
                        error = error ?? stopped(reason)
                        summary.topicsSetAside = topicsWaitedFor()
                    }
                    if case .damaged(let what) = rest { error = error ?? ToolError(.unreadable, what) }
                    if rest != .ended, !isEnding {
                        isEnding = true
                        await group.triggerGracefulShutdown()
                    }
                case .trouble(let trouble):
                    error = error ?? trouble
                    isEnding = true
                    await group.triggerGracefulShutdown()
                case .serviceEnded(let failure):
                    if let failure { error = error ?? ToolError(failure, otherwise: .inputOutput) }
                    if !isEnding { summary.interrupted = error == nil }
                    isEnding = true
                    tasks.cancelAll()
                case .watchEnded:
                    break
                }
            }
            return error
        }
    }

    /// The names of routes with unconfirmed entries; none if the journal can't be read.
    private func producersWithBacklog() -> [Producer] {
        do {
            return try engine.producers().filter { $0.unconfirmed > 0 }.map { try engine.producer(named: $0.name) }
        } catch {
            logger.warning("the Producers' names can't be read: \(error)")
            return []
        }
    }

    private func serviceGroup() -> ServiceGroup {
        let service: any Service = options.isQueueOnly ? UntilShutdown() : engine
        var configuration = ServiceGroupConfiguration(
            services: [
                .init(
                    service: service, successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup)
            ], logger: logger)
        for feedback in options.feedback {
            configuration.services.append(
                .init(service: feedback, successTerminationBehavior: .ignore, failureTerminationBehavior: .ignore))
        }
        if let control = options.control {
            // The first to come is the last to go: operators are served until the engine has ended.
            let service = ControlService(control: control) { [console] error in
                console.warning("operators can't reach this process: \(error)")
            }
            configuration.services.insert(.init(service: service, successTerminationBehavior: .ignore), at: 0)
        }
        if options.handlesSignals { configuration.gracefulShutdownSignals = [.sigint, .sigterm] }
        return ServiceGroup(configuration: configuration)
    }

    private static func run(_ group: ServiceGroup) async -> Event {
        do {
            try await group.run()
            return .serviceEnded(nil)
        } catch {
            return .serviceEnded(error)
        }
    }

    private func feed(_ report: Monitor<FeedReport>) -> Feed {
        Feed(
            engine: engine, console: console, report: report, fullLimit: options.fullLimit, ledger: options.ledger
        ) { [engine, options] in
            if options.isQueueOnly {
                return ToolError(
                    .inputOutput, "nothing more is taken, since --queue-only sends nothing that would make room")
            }
            let status = engine.status()
            let lanes = status.lanes.filter { $0.backlog > 0 }
            // An operator who has paused a lane means to resume it.
            if lanes.contains(where: \.isPaused) { return nil }
            if status.unconfirmed == 0, status.settled > 0 || status.submitted == 0 {
                return ToolError(
                    .inputOutput,
                    "nothing is left to deliver that would make room: it needs a higher limit (--journal-limit, "
                        + "journal.limit, journal.entries), or room on the disk"
                )
            }
            guard status.inFlight == 0, !lanes.isEmpty, let reason = lanes.first?.stoppedBecause,
                lanes.allSatisfy({ $0.stoppedBecause != nil && !$0.isYetToBeProbed })
            else { return nil }
            return ToolError(.configuration, "nothing more can be sent: \(reason)")
        }
    }

    private func stopped(_ reason: String) -> ToolError {
        let words = "nothing more can be sent: \(reason)"
        let status = engine.status()
        // Nothing is wrong with what has its time still before it, or waits for an operator.
        let waiting = status.scheduled + status.heldByTag
        if waiting > 0, waiting == status.unconfirmed { return ToolError(.entriesLeft, words) }
        let lane = status.lanes.first { $0.backlog > 0 && $0.stoppedBecause == reason }
        guard options.routes.count > 1, let lane else { return ToolError(.configuration, words) }
        return ToolError(.configuration, "route \(lane.key.route): \(words)")
    }
}

/// A service that does nothing until it is told to end.
private struct UntilShutdown: Service {
    func run() async throws { try await gracefulShutdown() }
}
