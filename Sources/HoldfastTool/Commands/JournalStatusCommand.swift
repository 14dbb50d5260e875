internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "status", abstract: "The journal in figures.")

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try show() } }

    private func show() throws -> ToolStatus {
        let path = try journalOptions.path()
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let report = JournalReport(
            try reader.status(), directory: reader.directory, owner: reader.owner,
            route: try RememberedRoute.decode(try reader.note(RememberedRoute.noteName), journal: path))
        Console.standard.print(json ? try JSONOutput.line(report) : report.text())
        return .ok
    }
}
