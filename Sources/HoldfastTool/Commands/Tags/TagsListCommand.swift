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
        let (paused, unread) = try await read(place)
        let tags = paused.map { PausedTagForm($0) }
        if json {
            for tag in tags { Console.standard.print(try JSONOutput.line(tag)) }
        } else if tags.isEmpty {
            Console.standard.note("no tag is paused in \(place)")
        } else {
            Console.standard.print(PausedTagRow.table(tags))
            if unread > 0 { Console.standard.note(Self.uncounted(unread)) }
        }
        return .ok
    }

    /// Behind a throttle, or in a lane that stands still, nothing is read, so that no tag of it is known.
    private static func uncounted(_ count: Int) -> String {
        "\(Format.plural(count, "notification")) \(count == 1 ? "waits" : "wait") for another cause, and may have these tags: "
            + "holdfast journal list --tag TAG --count counts all"
    }

    /// - Returns: the paused tags, and the entries that wait in their turn, of which it is not known whether a tag holds them.
    private func read(_ place: JournalPlace) async throws -> (tags: [DeskStatus.PausedTag], unread: Int) {
        guard case .directory(let path) = place else {
            return try await DeskOpener(place).withDesk { desk in
                let status = try await desk.status()
                let waiting = status.lanes.reduce(0) { $0 + $1.unconfirmed - $1.deferred - $1.scheduled }
                return (status.pausedTags, max(waiting - status.routes.reduce(0) { $0 + $1.inFlight }, 0))
            }
        }
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        let lanes = try reader.status().lanes
        return (try reader.pausedTags(), lanes.reduce(0) { $0 + max($1.unconfirmed - $1.deferred - $1.scheduled, 0) })
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
