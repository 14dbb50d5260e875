internal import Holdfast
internal import Logging

/// What `send` and `recover` have in common: an engine over a journal and one connector, a run of it, and its summary.
struct Delivery {
    let journal: any Journal
    let connector: any Connector
    let options: DeliveryOptions
    var console = Console.standard

    /// - Parameter input: nil delivers what is there.
    func run(_ input: InputTask?, isQueueOnly: Bool = false) async throws -> ToolStatus {
        let logger = ConsoleLogHandler.logger(console, isVerbose: options.verbose)
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: options.engineConfiguration(),
            logger: logger)
        let run = DeliveryRun(
            journal: journal, engine: engine, console: console, logger: logger,
            options: .init(giveUpAfter: options.giveUpAfter, isQueueOnly: isQueueOnly))
        let outcome = await run.run(input)
        if let error = outcome.error { console.error(error.message) }
        console.print(options.json ? try JSONOutput.line(outcome.summary) : outcome.summary.text())
        return outcome.status
    }
}
