internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List entries in the order of their UIDs, or count them.",
        discussion: """
            What has ended is not among them: `journal find` finds it. \
            If several flags choose entries, all of them must hold; a repeated flag means "any of these". In a journal \
            that is in use, each page of the list is of one instant, not the whole list. Tokens and payloads are \
            personal data: they are shortened unless --reveal is given.

            Examples:
              holdfast journal list --state possibly-sent --lane default/immediate
              holdfast journal list --token 00fc13ad --json
              holdfast journal list --older-than 1h --count
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var stateOptions: StateOptions
    @OptionGroup var filterOptions: EntryFilterOptions

    @OptionGroup var printer: EntryPrinter

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        try await placeOptions.place(of: filterOptions.uids).withSource { source in
            try await UnknownLanes.tell(filterOptions.lane, in: source)
            try await printer.print(
                filterOptions.filter(states: stateOptions.kinds), of: source,
                whereElse: "what has ended is found by `holdfast journal find`")
        }
        return .ok
    }
}
