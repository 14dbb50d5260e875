internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

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
              holdfast journal status --fleet

            Of a journal on another host, or one whose key is not here, its owner tells less: what waits, lanes, routes, paused \
            tags, and the history.
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Flag(name: .long, help: "Print one JSON object; with --fleet, one a line.")
    var json = false

    func validate() throws { try fleetOptions.check(placeOptions) }

    func run() async throws { try await reporting { try await show() } }

    private func show() async throws -> ToolStatus {
        if fleetOptions.fleet { return try await showFleet() }
        switch try placeOptions.place() {
        case .directory(let path):
            let reader = try JournalReader(at: path)
            defer { reader.close() }
            let report = try JournalReport(
                reader,
                route: try RouteSettings.decode(try reader.note(RouteSettings.noteName), journal: reader.directory),
                atRest: try HealthReport.atRest(reader),
                try await LiveStatus.read(reader.directory, owner: reader.owner))
            Console.standard.print(json ? try JSONOutput.line(report) : report.text())
        case .served(let journal):
            try await show(journal)
            Console.standard.note(
                "its process tells less than the files, which can't be read: \(journal.hindrance.message)")
        case .fleet(let journal): try await show(journal)
        }
        return .ok
    }

    /// What its owner tells.
    private func show(_ journal: any AskedJournal) async throws {
        let report = try await journal.use { desk in OwnerReport(try await desk.status(), owner: desk.owner) }
        Console.standard.print(json ? try JSONOutput.line(report) : report.text(of: journal.words))
    }

    private func showFleet() async throws -> ToolStatus {
        try FleetOrderRow.print(try await FleetOrderRow.all(placeOptions.register()), json: json)
        let answers = try await fleetOptions.asking(placeOptions).each { desk, _ in
            OwnerReport(try await desk.status(), owner: desk.owner)
        }
        for answer in answers.answers {
            Console.standard.print(
                json
                    ? try JSONOutput.line(PlacedForm(place: answer.place, value: answer.value))
                    : answer.value.text(of: "journal \(answer.place.journal.printable(maximumLength: 64))"))
        }
        return try answers.tellSilent(json: json)
    }
}
