internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a journal, in use or at rest, into a new one.",
        discussion: """
            The copy is consistent, on disk when this ends, and opens as a journal. The original goes on without it, so what \
            is unconfirmed in the copy counts as possibly sent, and its UIDs begin 2^32 further on: open it in place of \
            the original, not beside it. A journal in use is read as of one commit, which is kept meanwhile: its file \
            grows by what is written, within --pin-limit and --growth-limit.

            EXAMPLE: holdfast journal backup --journal my.journal /backups/monday.journal
            """)

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var inspection: InspectionOptions

    @Argument(
        help: ArgumentHelp("The new journal's directory; nothing may be there.", valueName: "dest"),
        completion: .directory)
    var destination: String

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try backUp() } }

    private func backUp() throws -> ToolStatus {
        let path = try journalOptions.path()
        let progress = InspectionStatusLine()
        defer { progress.clear() }
        let report = try InspectionError.tempered {
            try JournalBackup.run(
                directory: path, destination: destination, limits: inspection.limits(),
                progress: { progress.show($0) })
        }
        progress.clear()
        let rendered = CopyRendering(report)
        Console.standard.print(json ? try JSONOutput.line(rendered) : rendered.text(copied: true))
        return .ok
    }
}
