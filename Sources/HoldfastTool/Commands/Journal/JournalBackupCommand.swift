internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a journal, in use or at rest, into a new one.",
        discussion: """
            The copy is consistent, is on disk when the command ends, and opens as a journal. Meanwhile the original \
            goes on sending. So unconfirmed entries count as possibly sent in the copy, and its new UIDs begin 2^32 \
            later: open it in place of the original, not beside it. A journal in use is read at one commit, whose \
            space can't be reused meanwhile: the file grows with each write, up to --growth-limit, and for no longer \
            than --pin-limit.

            The copy of a sealed journal is sealed with the same keys: keep them as long as the copy.

            Example:
              holdfast journal backup --journal my.journal /backups/monday.journal

            Exit code 75 if a limit was reached first.
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var inspection: InspectionOptions

    @Argument(
        help: ArgumentHelp("The directory of the new journal, which must not exist.", valueName: "dest"),
        completion: .directory)
    var destination: String

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try backUp() } }

    private func backUp() throws -> ToolStatus {
        let path = try placeOptions.path()
        let progress = InspectionStatusLine()
        defer { progress.clear() }
        let report = try InspectionError.tempered {
            try JournalBackup.run(
                directory: path, destination: destination, keys: try KeyFileChoice.keys(of: path),
                limits: inspection.limits(), progress: { progress.show($0) })
        }
        progress.clear()
        let rendered = CopyRendering(report)
        Console.standard.print(json ? try JSONOutput.line(rendered) : rendered.text(copied: true))
        return .ok
    }
}
