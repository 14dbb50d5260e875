internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

struct OutcomesFollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print outcomes as notifications end.",
        discussion: """
            Asks the process that uses the journal, and waits for more until it is interrupted. When that process ends, \
            it waits for the next one. Without --after and --reader it begins with what ends from now on. With --reader \
            the journal remembers how far it came: a batch counts as read when all of it was written to standard output, \
            and one that was not is printed again by the next run.

            Examples:
              holdfast outcomes follow --json | my-program
              holdfast outcomes follow --after 123456
              holdfast outcomes follow --reader billing --producer invoices --json --reveal

            Exit codes: 65 there is no such cursor · 74 nobody reads standard output any more · 75 no process that serves \
            operators uses the journal.
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var outcomesOptions: OutcomesOptions

    @Option(
        name: .long,
        help: ArgumentHelp("Begin after the outcome with this cursor; 0 is before the oldest.", valueName: "cursor"),
        transform: HistoryArgument.of(OutcomeArgument.cursor))
    var after: OutcomeCursor?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Go on where the reader of this name came to, and keep its cursor in the journal.", valueName: "name"))
    var reader: String?

    func validate() throws {
        guard let reader else { return }
        guard (1...64).contains(reader.utf8.count), reader != OutcomeReader.engineName else {
            throw ValidationError(
                "--reader takes a name of 1 to 64 bytes, and not engine, which is the application's own.")
        }
    }

    func run() async throws {
        try await reporting {
            let following = OutcomeFollowing(
                place: try placeOptions.place(), reader: reader, producers: outcomesOptions.producers)
            let printer = OutcomePrinter(json: outcomesOptions.json, reveal: outcomesOptions.reveal, mustBeRead: true)
            try await following.run(after: after) { listing, cursor in try printer.print(listing, after: cursor) }
            return .ok
        }
    }
}
