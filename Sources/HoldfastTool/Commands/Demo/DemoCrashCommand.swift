internal import ArgumentParser
internal import HoldfastService

struct DemoCrashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crash",
        abstract: "Kill a sender in the middle, and count what is lost.",
        discussion: """
            Runs a push service on this machine, sends notifications to it over TLS and HTTP/2, kills the sender with \
            kill -9 when a quarter was taken, delivers the rest from the journal and the file, and compares what the \
            service took with what was to be sent. Prints each command as you would type it.

            The files are in a temporary directory, which is removed at the end; with --keep they stay.

            Examples:
              holdfast demo
              holdfast demo crash --count 100000 --keep demo

            Exit codes: 0 nothing was lost · 1 something was lost, or went more often than it may · 130, 143 it was \
            ended by SIGINT or SIGTERM · others as in `holdfast --help`.
            """)

    @Option(name: .long, help: ArgumentHelp("The number of notifications.", valueName: "count"))
    var count = 20_000

    @OptionGroup var options: DemoOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (100...10_000_000).contains(count) else { throw ValidationError("--count must be 100 to 10000000.") }
    }

    func run() async throws { try await reporting { try await demonstrate() } }

    private func demonstrate() async throws -> ToolStatus {
        let directory = try DemoDirectory(kept: options.keep)
        defer { directory.leave() }
        let demo = CrashDemo(count: count, directory: directory, json: json)
        let report = try await EndingSignals.run { try await demo.run() }
        if json {
            Console.standard.print(try JSONOutput.line(report))
            return report.isGood ? .ok : .notAllConfirmed
        }
        guard report.isGood else {
            throw ToolError(
                .notAllConfirmed,
                """
                \(Format.count(report.lost)) lost, \(Format.count(report.left)) left, \(Format.count(report.duplicates)) \
                duplicates: that must not be
                """)
        }
        Console.standard.print(
            DemoText.heading(
                """
                Nothing was lost. \(Format.plural(report.duplicates, "notification")) went twice: in flight when the \
                sender was killed (at most the window, \(Format.count(report.window)))
                """))
        if directory.isKept { Console.standard.print("The files are in \(directory.path)") }
        Console.standard.print(
            DemoText.next([
                (
                    "holdfast demo gateway",
                    "the same safety for senders that speak to Apple today: only their host changes"
                ),
                (DemoText.initialCommand, "a configuration of your own, with certificates and directories"),
                ("holdfast send --help", "notifications of your own, from a file or by hand"),
            ]))
        return .ok
    }
}
