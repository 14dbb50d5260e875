internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print whether all is well, and if not: what is wrong, since when, and what to do.",
        discussion: """
            At most ten lines, the worst first. The process that uses the journal is asked; of a journal at rest it says \
            what is in the journal.

            Examples:
              holdfast status
              holdfast status --journal push.journal
              holdfast status --json | jq -r '.conditions[] | select(.severity == "fault") | .what'
              holdfast status > /dev/null || page-somebody

            Exit codes: 0 healthy · 1 something is wrong · 3 nothing runs: the journal is at rest, or there is none yet · \
            others as in `holdfast --help`.
            """)

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await show() } }

    /// The configuration that says which journal; nil where a flag or the environment does, and where it has mistakes.
    private var installed: HoldfastConfiguration? {
        guard placeOptions.journalName == nil, !placeOptions.journalOptions.isNamed else { return nil }
        return try? placeOptions.journalOptions.load()
    }

    private func show() async throws -> ToolStatus {
        var report = try await HealthReport.read(try placeOptions.placeOfWaiting() ?? placeOptions.place())
        if report.status == .notRunning, let configuration = installed {
            report.elsewhere = ServiceElsewhere.find(configuration, except: report.journal)
        }
        let console = Console.standard
        console.print(
            json
                ? try JSONOutput.line(report)
                : report.text(now: EngineClock.system.wall(), color: { console.colored($0, $1) }))
        return report.status
    }
}
