internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastLegacyAPNs
internal import HoldfastService
internal import Logging

/// The common part of `send` and `recover`: an engine over a journal and its routes, a run of it, and its summary.
struct Delivery {
    let journal: LMDBJournal
    let routes: [ReadyRoute]
    /// With the flags over it.
    let configuration: HoldfastConfiguration
    /// Whether the summary is printed as JSON.
    let json: Bool
    var console = Console.standard

    /// - Parameter report: of a file; nil for none.
    func run(
        _ intake: Intake, isQueueOnly: Bool = false, report: SendReport? = nil
    ) async throws -> ToolStatus {
        let logger = ConsoleLogHandler.logger(console, level: configuration.log.level ?? .error)
        let engine = try PushEngine(
            journal: journal, routes: routes.map(\.route), configuration: configuration.engine, logger: logger)
        let run = DeliveryRun(
            journal: journal, engine: engine, console: console, logger: logger,
            options: .init(
                giveUpAfter: configuration.limits.giveUpAfter, isQueueOnly: isQueueOnly,
                fullLimit: configuration.journal.fullLimit, routes: routes.map(\.route),
                feedback: routes.compactMap { reader($0, engine) },
                control: ControlSocket(
                    // Without a run of the engine the journal is as at rest.
                    desk: isQueueOnly ? JournalDesk(journal: journal) : engine.desk, journal: journal.directory,
                    further: JournalAnswers(directory: journal.directory).requests, logger: logger),
                ledger: report?.ledger))
        if !isQueueOnly { try sayPausedTags() }
        var outcome = await run.run(intake)
        if let report {
            outcome.summary.report = report.path
            await run.finish(report.ledger, &outcome)
        }
        if let error = outcome.error { console.error(error.message) }
        console.print(json ? try JSONOutput.line(outcome.summary) : outcome.summary.text())
        return outcome.status
    }

    /// What waits for a paused tag is not sent, and its operator may have forgotten the pause.
    private func sayPausedTags() throws(JournalError) {
        guard let words = try journal.pausedTags().words else { return }
        console.note("\(words); what waits for a paused tag stays in the journal (`holdfast tags list`)")
    }

    private func reader(_ route: ReadyRoute, _ engine: PushEngine) -> FeedbackReader? {
        guard let source = route.feedback else { return nil }
        var configuration = FeedbackReader.Configuration()
        if let interval = route.settings.feedback?.interval { configuration.interval = interval }
        // A feedback service that can't be read does not end the run, so only this log tells of it.
        return FeedbackReader(
            source, blacklist: engine.blacklist, route: route.settings.name, scope: route.feedbackScope,
            configuration: configuration,
            logger: ConsoleLogHandler.logger(console, level: self.configuration.log.level ?? .warning))
    }
}
