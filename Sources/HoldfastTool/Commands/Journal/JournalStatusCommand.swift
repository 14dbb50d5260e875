internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "The journal in figures.",
        discussion: """
            What waits and since when, what was refused, which lanes stand still and why, and what a crash would send twice. \
            The figures of a journal in use are of one instant, but for what may have been sent. The process that uses it is \
            asked which topics it has set aside, and when stopped lanes and such topics are tried again.

            Examples:
              holdfast journal status --journal push.journal
              holdfast journal status --json | jq .lanes
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await show() } }

    private func show() async throws -> ToolStatus {
        let reader = try JournalReader(directory: try journalOptions.path())
        defer { reader.close() }
        let report = try JournalReport(reader, try await LiveStatus.read(reader.directory, owner: reader.owner))
        Console.standard.print(json ? try JSONOutput.line(report) : report.text())
        return .ok
    }
}
