internal import ArgumentParser
internal import HoldfastService
internal import Logging

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Take notifications from existing senders, and deliver them.",
        discussion: """
            Listens as the section `gateway` of the configuration says: for APNs over HTTP/2, for the binary protocol, \
            and for readers of feedback. A notification that was answered with 200 is on disk. The configuration's \
            routes deliver it, and what an earlier process left in the journal.

            Runs until SIGINT or SIGTERM, then shuts down in order. SIGHUP reads the configuration again. \
            Docs/Operate/Service.md has more, and a unit for systemd.

            Examples:
              holdfast init
              holdfast serve --check
              holdfast serve --config /etc/holdfast/holdfast.yaml

            Exit codes: 0 shut down by a signal · 66 there is no directory in which to make the journal · others as in \
            `holdfast --help`.
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(
        name: .long,
        help: """
            Read all files, and print what would be served, or all mistakes. Listens on nothing.
            """)
    var check = false

    @Flag(
        name: .long,
        help: """
            Print one JSON object: with --check what would be served, otherwise at the end, how it ended.
            """)
    var json = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How the log is written: text, json, or journald. (default: log.format of the configuration, or text)",
            valueName: "format"))
    var logFormat: LogFormat?

    @Flag(name: .shortAndLong, help: "Print more on standard error.")
    var verbose = false

    func run() async throws {
        if !check { ServiceLog.prepare(.standard, for: logFormat) }
        try await reporting {
            do {
                return try await serve()
            } catch let error as ValidationError where Console.standard.trouble != nil {
                // A line of the log like all others, without the command's usage.
                throw ToolError(.usage, error.message)
            }
        }
    }

    private func serve() async throws -> ToolStatus {
        let hangUps = await ServiceProcess.hangUps()
        let configuration: HoldfastConfiguration
        let routes: [ReadyRoute]
        do {
            configuration = try load { read in
                // What ends the start is written as the log is to be, also where there are mistakes beside that.
                if !check { ServiceLog.prepare(.standard, for: logFormat ?? read.log.format) }
            }
            if check {
                let surroundings = ServiceSurroundings.warnings(configuration)
                let check = ServiceCheck(configuration, json: json, surroundings: surroundings) { user in
                    ProcessLook.isService(user, of: configuration)
                }
                return try check.run()
            }
            routes = try ServicePlan.routes(configuration)
        } catch  where json && !(error is ValidationError) {
            // Standard error has it as well: see `reporting`.
            Console.standard.print(try JSONOutput.line(Unusable(ToolError(error, otherwise: .internalFault))))
            throw error
        }
        DescriptorLimit.raise()
        let log = ServiceLog(level: configuration.log.level ?? .info, format: configuration.log.format)
        let process = ServiceProcess(configuration, routes: routes, log: log) { [self] in try load() }
        let outcome = await process.run(hangUps)
        if let error = outcome.toolError { Console.standard.error(error.message) }
        if json { Console.standard.print(try JSONOutput.line(Ending(outcome))) }
        return outcome.status
    }

    /// The configuration, with the flags over it.
    ///
    /// - Parameter begins: called with what can be read of it, before it is examined.
    private func load(_ begins: (HoldfastConfiguration) -> Void = { _ in }) throws -> HoldfastConfiguration {
        var configuration = try journalOptions.configOptions.load { rest in
            begins(rest)
            var rest = rest
            rest.journal.path = journalOptions.journal ?? rest.journal.path
            return ServicePlan.problems(of: rest)
        }
        begins(configuration)
        journalOptions.takeKeyFile(&configuration.journal)
        // A missing setting is one of the configuration's mistakes.
        if configuration.file == nil || journalOptions.journal != nil {
            guard !configuration.isEmpty || journalOptions.journal != nil else { throw Self.missing }
            configuration.journal.path = try journalOptions.path(configuration.journal)
        }
        if verbose { configuration.log.level = .debug }
        configuration.log.format = logFormat ?? configuration.log.format
        return configuration
    }

    private static let missing = ValidationError(
        """
        Missing the configuration: there is no \(HoldfastConfiguration.standardFile), and neither --config nor \
        HOLDFAST_CONFIG names another. `holdfast init` makes one, with the certificates and directories that it needs.
        """)

    /// The JSON for a configuration that can't be read at all: some properties of the usual one.
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

extension LogFormat: ExpressibleByArgument {}
