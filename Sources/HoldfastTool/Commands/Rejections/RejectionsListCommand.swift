internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

struct RejectionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List rejections in the order of their UIDs, or count them.",
        discussion: """
            If several flags choose rejections, all of them must hold; a repeated flag means "any of these". Tokens \
            and payloads are personal data: they are shortened unless --reveal is given.

            Examples:
              holdfast rejections list --reason BadTopic --newer-than 1h
              holdfast rejections list --count
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var filterOptions: EntryFilterOptions
    @OptionGroup var printer: EntryPrinter

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        try await placeOptions.place(of: filterOptions.uids).withSource { source in
            try await UnknownLanes.tell(filterOptions.lane, in: source)
            try await printer.print(filterOptions.filter(states: [.rejected]), of: source)
        }
        return .ok
    }
}

struct RejectionsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one rejection, what its reason means, and what to do about it.",
        discussion: """
            Example:
              holdfast rejections show 1234 --reveal

            Exit code 66 if there is no rejection with this UID.
            """)

    @Argument(help: "The UID of the entry.")
    var uid: UInt64

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print the token and the payload whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let place = try placeOptions.place(of: UIDRanges([UID(uid)]))
            let facts = try await EntryFacts.find(UID(uid), at: place)
            guard case .entry(let entry) = facts.standing, case .rejected = entry.state else {
                throw ToolError(.noInput, "\(place) has no rejection \(uid)")
            }
            try EntryReport(facts: facts, path: "\(place)").print(reveal: reveal, json: json)
            return .ok
        }
    }
}
