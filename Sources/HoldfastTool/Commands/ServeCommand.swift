internal import ArgumentParser
internal import HoldfastService
internal import Logging

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve existing senders, and deliver what they hand over.",
        discussion: """
            Listens as the configuration's `gateway` says: for APNs over HTTP/2, for the binary protocol, for readers of \
            feedback. What a sender was told 200 for is on disk, and is delivered by the configuration's routes: also what an \
            earlier process left. Runs until SIGINT or SIGTERM, which it answers in order; SIGHUP makes it read the \
            configuration again. Docs/Operate/Service.md has more, and a unit for systemd.

            Examples:
              holdfast serve --config /etc/holdfast/holdfast.yaml
              holdfast serve --config /etc/holdfast/holdfast.yaml --check

            Exit codes: 0 it was told to end · 64 wrong flags · 66 there is no directory for the journal · 69 an address \
            cannot be listened on · 72 the journal is damaged · 73 the journal cannot be opened · 74 the journal fails again \
            and again · 77 permission denied · 78 configuration.
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Say what would be served, with all files read, and all mistakes; listen on nothing.")
    var check = false

    @Flag(name: .long, help: "Print one JSON object: with --check what would be served, else how it ended.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say more on standard error.")
    var verbose = false

    func run() async throws { try await reporting { try await serve() } }

    private func serve() async throws -> ToolStatus {
        let configuration: HoldfastConfiguration
        let routes: [ReadyRoute]
        do {
            configuration = try load()
            if check { return try ServiceCheck(configuration, json: json).run() }
            routes = try ServicePlan.routes(configuration)
        } catch  where json && !(error is ValidationError) {
            // Standard error has it as well: see `reporting`.
            Console.standard.print(try JSONOutput.line(Unusable(ToolError(error, otherwise: .internalFault))))
            throw error
        }
        DescriptorLimit.raise()
        let log = ServiceLog(level: configuration.log.level ?? .info)
        let process = ServiceProcess(configuration, routes: routes, log: log) { [self] in try load() }
        let outcome = await process.run()
        if let error = outcome.toolError { Console.standard.error(error.message) }
        if json { Console.standard.print(try JSONOutput.line(Ending(outcome))) }
        return outcome.status
    }

    /// The configuration, with the flags over it.
    private func load() throws -> HoldfastConfiguration {
        var configuration = try journalOptions.configOptions.load()
        // What a configuration lacks is one of its mistakes.
        if configuration.file == nil || journalOptions.journal?.isEmpty == false {
            configuration.journal.path = try journalOptions.path(configuration.journal)
        }
        if verbose { configuration.log.level = .debug }
        return configuration
    }

    /// What is printed where the configuration cannot be read at all; its properties are some of those that are printed else.
    private struct Unusable: Encodable {
        var usable = false
        var mistakes: [String]
        var error: String
        var exitCode: Int32

        init(_ error: ToolError) {
            mistakes = error.mistakes
            (self.error, exitCode) = (error.message, error.status.rawValue)
        }
    }

    /// The names of its properties are those of the JSON.
    private struct Ending: Encodable {
        var error: String?
        var exitCode: Int32
        var left: Int?
        var reopened: Int

        init(_ outcome: ServiceRun.Outcome) {
            (error, exitCode) = (outcome.toolError?.message, outcome.status.rawValue)
            (left, reopened) = (outcome.left, outcome.reopened)
        }
    }
}
