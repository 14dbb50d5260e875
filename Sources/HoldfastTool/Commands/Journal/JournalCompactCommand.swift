internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalCompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Rewrite a journal's files without their free space.",
        discussion: """
            At rest only: stop the process that uses the journal. The content stays the same, byte for byte. If the \
            command is interrupted, either the old file or the new one is there. It needs free disk space for the used \
            part of the journal. The next process that opens the journal allocates its reserve again.

            Example:
              holdfast journal compact --journal my.journal
            """)

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try compact() } }

    private func compact() throws -> ToolStatus {
        let path = try placeOptions.path()
        let progress = InspectionStatusLine()
        defer { progress.clear() }
        let report = try InspectionError.tempered {
            try JournalCompaction.run(directory: path, progress: { progress.show($0) })
        }
        progress.clear()
        let rendered = CopyRendering(report)
        Console.standard.print(json ? try JSONOutput.line(rendered) : rendered.text(copied: false))
        return .ok
    }
}

/// An error while a whole journal was read, with an exit code that tells whether to try again.
enum InspectionError {
    static func tempered<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as JournalError {
            switch error.code {
            case .ownedByAnotherProcess:
                throw ToolError(.entriesLeft, error.message + ". Stop it first, and try again")
            case .limitReached: throw ToolError(.entriesLeft, error.message)
            case .damaged: throw ToolError(.badInput, error.message)
            default: throw error
            }
        }
    }
}
