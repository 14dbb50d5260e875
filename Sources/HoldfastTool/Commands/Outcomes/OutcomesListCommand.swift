internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

struct OutcomesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List outcomes after a cursor, and say the next cursor.",
        discussion: """
            With --json each outcome is an object on a line of its own, and the last line is {"next": CURSOR}: give that \
            to --after to go on. While journal.history is off, it has "isKept": false as well. Where outcomes were deleted before they were read, \
            or cannot be read since the journal is damaged, a line {"missed": COUNT} says how many, and "unreadable" \
            how many of them damage took. Tokens are shortened unless --reveal is given.

            Examples:
              holdfast outcomes list --limit 1000
              holdfast outcomes list --after 123456 --json --reveal

            Exit codes: 0 done, whether there were any or not · 65 there is no such cursor.
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var outcomesOptions: OutcomesOptions

    @Option(
        name: .long,
        help: ArgumentHelp("Begin after the outcome with this cursor. (default: the oldest)", valueName: "cursor"),
        transform: HistoryArgument.of(OutcomeArgument.cursor))
    var after: OutcomeCursor?

    @Option(name: .long, help: ArgumentHelp("The most outcomes to print.", valueName: "count"))
    var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        try await placeOptions.place().withSource { source in
            let printer = OutcomePrinter(json: outcomesOptions.json, reveal: outcomesOptions.reveal, mustBeRead: false)
            var (cursor, left) = (after, limit)
            while left > 0, Console.standard.hasReader {
                let listing = try await source.outcomes(
                    after: cursor, limit: min(left, OperatorDeskLimits.batch), of: outcomesOptions.producers)
                try printer.print(listing, after: cursor ?? .start)
                left -= listing.outcomes.count
                let isOver = listing.end <= cursor ?? .start
                cursor = listing.end
                if isOver { break }
            }
            let isKept = try await source.history().isKept
            try printer.printEnd(cursor ?? .start, isKept: isKept)
            if !isKept { HistoryWords.sayOff() }
        }
        return .ok
    }
}

/// Which outcomes, and in which form.
struct OutcomesOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("Only those of this producer; may be repeated.", valueName: "name"),
        transform: HistoryArgument.of(OutcomeArgument.producer))
    var producer: [String] = []

    @Flag(name: .long, help: "Print tokens, contexts and payloads whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    var producers: Set<String>? { producer.isEmpty ? nil : Set(producer) }
}
