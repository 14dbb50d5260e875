internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Print the figures of a journal.",
        discussion: """
            How many entries wait, and since when; how many were rejected; which lanes stand still, and why; and how \
            many a crash would send twice. In a journal that is in use, the figures are of one instant, except for \
            those that may have been sent. The process that uses the journal also tells which topics it has set aside, \
            and when it tries stopped lanes and such topics again.

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
