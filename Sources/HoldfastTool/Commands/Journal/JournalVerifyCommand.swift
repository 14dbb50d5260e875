internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

struct JournalVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every page, record, index and figure of a journal.",
        discussion: """
            Works at rest and in use, and on a journal that can't be opened any more. Nothing in the journal is \
            changed. A journal in use is read at one commit, whose space can't be reused meanwhile: the file grows \
            with each write, up to --growth-limit, and for no longer than --pin-limit.

            --salvage copies all sound entries into a new journal, also those that are out of reach but found anywhere \
            in the file. An entry that may have been settled long ago counts as possibly sent there.

            Example:
              holdfast journal verify --journal my.journal --salvage mended.journal

            Exit codes: 0 sound · 65 damaged · 75 a limit was reached first · 78 sound, and its sealing is half done · others: \
            the journal could not be read.
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var inspection: InspectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Copy the sound entries into a new journal of this name, which must not exist.
            """, valueName: "dir"),
        completion: .directory)
    var salvage: String?

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try verify() } }

    private func verify() throws -> ToolStatus {
        let path = try placeOptions.path()
        let progress = InspectionStatusLine()
        defer { progress.clear() }
        let report = try InspectionError.tempered {
            try JournalVerification.run(
                directory: path, keys: try KeyFileChoice.keys(of: path), limits: inspection.limits(),
                progress: { progress.show($0) })
        }
        var rendered = VerificationRendering(report)
        if let salvage {
            let salvaged = try InspectionError.tempered {
                try JournalSalvage.run(
                    directory: path, destination: salvage, keys: try KeyFileChoice.keys(of: path),
                    limits: inspection.limits(),
                    progress: { progress.show($0) })
            }
            rendered.salvage = VerificationRendering.Salvage(salvaged)
        }
        progress.clear()
        Console.standard.print(json ? try JSONOutput.line(rendered) : rendered.text())
        guard report.isSound else { return .badInput }
        return rendered.halfSealed == nil ? .ok : .configuration
    }
}

/// For commands that read all of a journal that may be in use.
struct InspectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            For a journal in use: the longest time for which one commit's space is not reused (30s, 5m). \
            (default: 5m)
            """,
            valueName: "duration"),
        transform: DurationArgument.parse)
    var pinLimit: Duration?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            For a journal in use: by how much its file may grow meanwhile (512M, 1G). (default: 1G)
            """, valueName: "size"),
        transform: SizeArgument.parse)
    var growthLimit: Int?

    func limits() -> InspectionLimits {
        var limits = InspectionLimits()
        if let pinLimit { limits.time = pinLimit }
        if let growthLimit { limits.growth = growthLimit }
        return limits
    }
}

/// Shows on a terminal how far a long look has come.
struct InspectionStatusLine {
    func show(_ progress: InspectionProgress) {
        let percent = progress.total > 0 ? min(100, progress.done * 100 / progress.total) : 0
        let line = "\(progress.phase): \(Format.count(progress.done)) of \(Format.count(progress.total)) (\(percent) %)"
        Console.standard.showStatus(line)
    }

    func clear() { Console.standard.showStatus("") }
}
