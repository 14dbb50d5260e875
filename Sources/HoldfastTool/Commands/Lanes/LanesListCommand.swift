internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct LanesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the lanes, their state, and how many entries wait in them.",
        discussion: """
            A lane is a route, an urgency (immediate, considerate) and a guarantee (at-least-once, at-most-once). If \
            the journal is in use, the process that uses it also tells the state of each route's connection.

            Examples:
              holdfast lanes list --journal push.journal
              holdfast lanes list --json | jq 'select(.state != "running")'
              holdfast lanes list --fleet
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
        guard case .directory(let path) = place else {
            let rows = try await DeskOpener(place).withDesk { desk in Self.rows(try await desk.status()) }
            return try print(rows, of: "\(place)")
        }
        let (lanes, owner, topics) = try Self.read(path)
        let desk = try await LiveStatus.read(path, owner: owner)
        let rows = lanes.map { LaneRow($0, desk, topicsAtRest: topics[$0.key]) }
        return try print(rows, of: path)
    }

    private func print(_ rows: [LaneRow], of journal: String) throws -> ToolStatus {
        if json {
            for row in rows { Console.standard.print(try JSONOutput.line(row)) }
        } else if rows.isEmpty {
            Console.standard.note("\(journal) has no lanes yet")
        } else {
            Console.standard.print(LaneRow.table(rows))
        }
        return .ok
    }

    private func listFleet() async throws -> ToolStatus {
        try FleetOrderRow.print(
            try await FleetOrderRow.all(placeOptions.register(), \.isLanes), json: json)
        let answers = try await fleetOptions.asking(placeOptions).each { desk, _ in Self.rows(try await desk.status())
        }
        if json {
            for answer in answers.answers {
                for row in answer.value {
                    Console.standard.print(try JSONOutput.line(PlacedForm(place: answer.place, value: row)))
                }
            }
        } else if answers.answers.contains(where: { !$0.value.isEmpty }) {
            Console.standard.print(LaneRow.table(answers.answers.map { ($0.place, $0.value) }))
        }
        return try answers.tellSilent(json: json)
    }

    private static func rows(_ status: DeskStatus) -> [LaneRow] { status.lanes.map { LaneRow($0, status) } }

    private static func read(
        _ path: String
    ) throws -> (lanes: [JournalStatus.Lane], owner: String?, topics: [LaneKey: String]) {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        let lanes = try reader.status().lanes
        return (lanes, reader.owner, reader.owner == nil ? try TopicsAtRest.read(lanes, reader) : [:])
    }
}
