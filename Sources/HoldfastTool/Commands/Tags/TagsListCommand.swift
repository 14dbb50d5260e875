internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

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
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try list() } }

    private func list() throws -> ToolStatus {
        let path = try journalOptions.path()
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let tags = try reader.pausedTags().map { PausedTagForm($0) }
        if json {
            for tag in tags { Console.standard.print(try JSONOutput.line(tag)) }
        } else if tags.isEmpty {
            Console.standard.note("no tag is paused in \(path)")
        } else {
            Console.standard.print(PausedTagRow.table(tags))
        }
        return .ok
    }
}
