internal import Holdfast
internal import HoldfastLegacyAPNs
internal import Logging

/// What `send` and `recover` have in common: an engine over a journal and one route, a run of it, and its summary.
struct Delivery {
    let journal: any Journal
    let connector: any Connector
    /// What `connector` was made of.
    let route: RememberedRoute
    let options: DeliveryOptions
    /// Nil when none is to be read.
    let feedback: LegacyAPNsFeedback?
    var console = Console.standard

    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    init(
        journal: any Journal, connector: any Connector, route: RememberedRoute, options: DeliveryOptions
    ) throws(ToolError) {
        self.journal = journal
        self.connector = connector
        self.route = route
        self.options = options
        feedback = try options.feedback.map { endpoint throws(ToolError) in
            try FeedbackSettings(endpoint: endpoint, tls: route.tls).source()
        }
    }

    /// - Parameter input: nil delivers what is there.
    func run(_ input: InputTask?, isQueueOnly: Bool = false) async throws -> ToolStatus {
        let logger = ConsoleLogHandler.logger(console, isVerbose: options.verbose)
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector, connections: route.connections ?? 1)],
            configuration: options.engineConfiguration(), logger: logger)
        let run = DeliveryRun(
            journal: journal, engine: engine, console: console, logger: logger,
            options: .init(
                giveUpAfter: options.giveUpAfter, isQueueOnly: isQueueOnly,
                confirmation: connector.confirmationMode, feedback: feedback.map { reader($0, engine) }))
        let outcome = await run.run(input)
        if let error = outcome.error { console.error(error.message) }
        console.print(options.json ? try JSONOutput.line(outcome.summary) : outcome.summary.text())
        return outcome.status
    }

    private func reader(_ source: LegacyAPNsFeedback, _ engine: PushEngine) -> FeedbackReader {
        var configuration = FeedbackReader.Configuration()
        if let interval = options.feedbackInterval { configuration.interval = interval }
        // That it can't be read ends nothing, and would be seen by nobody if it was not said.
        return FeedbackReader(
            source, blacklist: engine.blacklist, configuration: configuration,
            logger: ConsoleLogHandler.logger(console, level: options.verbose ? .info : .warning))
    }
}
