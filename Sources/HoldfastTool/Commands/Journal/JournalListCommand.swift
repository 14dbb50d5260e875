internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Entries in the order of their UIDs, or how many there are.",
        discussion: """
            Several flags that choose entries must all hold; one that is repeated means "any of these". Of a journal that is \
            in use the list is not of one instant: a page of it is. Tokens and payloads are shortened unless --reveal is \
            given; they are personal data.

            Examples:
              holdfast journal list --state possibly-sent --lane default/immediate
              holdfast journal list --token 00fc13ad --json
              holdfast journal list --older-than 1h --count
            """)

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var stateOptions: StateOptions
    @OptionGroup var filterOptions: EntryFilterOptions

    @OptionGroup var printer: EntryPrinter

    func run() async throws { try await reporting { try list() } }

    private func list() throws -> ToolStatus {
        let reader = try JournalReader(directory: try journalOptions.path())
        defer { reader.close() }
        try printer.print(filterOptions.filter(states: stateOptions.kinds), of: reader)
        return .ok
    }
}
