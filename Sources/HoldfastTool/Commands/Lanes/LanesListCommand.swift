internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

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
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        let path = try journalOptions.path()
        let (lanes, owner, topics) = try Self.read(path)
        let desk = try await LiveStatus.read(path, owner: owner)
        let rows = lanes.map { LaneRow($0, desk, topicsAtRest: topics[$0.key]) }
        if json {
            for row in rows { Console.standard.print(try JSONOutput.line(row)) }
            return .ok
        }
        if rows.isEmpty {
            Console.standard.note("\(path) has no lanes yet")
        } else {
            Console.standard.print(LaneRow.table(rows))
        }
        return .ok
    }

    private static func read(
        _ path: String
    ) throws -> (lanes: [JournalStatus.Lane], owner: String?, topics: [LaneKey: String]) {
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let lanes = try reader.status().lanes
        return (lanes, reader.owner, reader.owner == nil ? try TopicsAtRest.read(lanes, reader) : [:])
    }
}
