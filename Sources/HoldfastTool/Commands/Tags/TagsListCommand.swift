internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct TagsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the paused tags: since when, why, and how many notifications wait for each.",
        discussion: """
            Those that wait behind others, or in a paused lane, are counted when they are read. To count all \
            notifications of a tag: holdfast journal list --tag TAG --count

            Examples:
              holdfast tags list --journal push.journal
              holdfast tags list --json | jq -r .tag
              holdfast tags list --fleet
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws { try fleetOptions.check(placeOptions) }

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        if fleetOptions.fleet { return try await listFleet() }
        let place = try placeOptions.place()
        let tags = try await read(place).map { PausedTagForm($0) }
        if json {
            for tag in tags { Console.standard.print(try JSONOutput.line(tag)) }
        } else if tags.isEmpty {
            Console.standard.note("no tag is paused in \(place)")
        } else {
            Console.standard.print(PausedTagRow.table(tags))
        }
        return .ok
    }

    private func read(_ place: JournalPlace) async throws -> [DeskStatus.PausedTag] {
        guard case .directory(let path) = place else {
            return try await DeskOpener(place).withDesk { try await $0.status().pausedTags }
        }
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        return try reader.pausedTags()
    }

    private func listFleet() async throws -> ToolStatus {
        try FleetOrderRow.print(
            try await FleetOrderRow.all(placeOptions.register()) { !$0.isLanes }, json: json)
        let answers = try await fleetOptions.asking(placeOptions).each { desk, _ in
            try await desk.status().pausedTags.map { PausedTagForm($0) }
        }
        let journals = answers.answers.filter { !$0.value.isEmpty }
        if json {
            for journal in journals {
                for tag in journal.value {
                    Console.standard.print(try JSONOutput.line(PlacedForm(place: journal.place, value: tag)))
                }
            }
        } else if journals.isEmpty {
            Console.standard.note("no tag is paused in the journals that answered")
        } else {
            Console.standard.print(PausedTagRow.table(journals.map { ($0.place, $0.value) }))
        }
        return try answers.tellSilent(json: json)
    }
}
