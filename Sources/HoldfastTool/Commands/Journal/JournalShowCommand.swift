internal import ArgumentParser
internal import Holdfast

struct JournalShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One entry, all that is known of it, and why it stands where it stands.",
        discussion: """
            Says in words what its state means, what it waits for and what to do. When the journal is in use, the process that \
            uses it is asked too. Of an entry that has met its end it says what the journal still knows.

            Exit code 66 when nothing is known of it: it was settled and forgotten, or never given out.

            Examples:
              holdfast journal show 1234
              holdfast journal show 1234 --json | jq -r '.explanation[]'
            """)

    @Argument(help: "Its UID.")
    var uid: UInt64

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print the token and the payload whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let path = try journalOptions.path()
            let facts = try await EntryFacts.find(UID(uid), in: path)
            try EntryReport(facts: facts, path: path).print(reveal: reveal, json: json)
            return .ok
        }
    }
}
