internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

struct JournalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one entry, and explain its state.",
        discussion: """
            Explains in sentences what the state means, what the entry waits for, and what to do. If the journal is in \
            use, the process that uses it is asked too. For an entry that was settled, it prints what the journal \
            still knows. On a fleet the UID tells the journal, and its owner is asked.

            Examples:
              holdfast journal show 1234
              holdfast journal show 1234 --json | jq -r '.explanation[]'

            Exit code 66 if nothing is known of the entry: it was settled and forgotten, or the UID was never used.
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
            try EntryReport(facts: facts, path: "\(place)").print(reveal: reveal, json: json)
            return .ok
        }
    }
}
