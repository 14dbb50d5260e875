internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalCompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Rewrite a journal's files without their free space; seal or unseal it.",
        discussion: """
            At rest only: stop the process that uses the journal. The content stays the same, byte for byte. If the \
            command is interrupted, either the old file or the new one is there. It needs free disk space for the used \
            part of the journal. The next process that opens the journal allocates its reserve again.

            With a key file, all of the journal is sealed with the file's first key afterwards: what other keys of the \
            file have sealed, and what was in the clear. --unseal writes a sealed journal in the clear, for a program \
            that can't read sealed ones. What the old files had is not overwritten on the disk.

            Examples:
              holdfast journal compact --journal my.journal
              holdfast journal compact --journal my.journal --key-file journal.key
            """)

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(
        name: .long,
        help:
            "Write the journal in the clear: payloads, device tokens, tags and notes can be read by whoever has the files."
    )
    var unseal = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try compact() } }

    private func compact() throws -> ToolStatus {
        let path = try placeOptions.path()
        let progress = InspectionStatusLine()
        defer { progress.clear() }
        let report = try InspectionError.tempered {
            try JournalCompaction.run(
                directory: path, keys: try KeyFileChoice.keys(of: path), unseals: unseal,
                progress: { progress.show($0) })
        }
        progress.clear()
        let rendered = CopyRendering(report)
        if unseal {
            Console.standard.note(
                "\(report.directory) is not sealed any more: whoever has its files, or a copy of them, can read it")
        }
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
