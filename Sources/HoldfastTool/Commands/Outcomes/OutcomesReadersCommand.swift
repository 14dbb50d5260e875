internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct OutcomesReadersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: "List the readers whose cursors the journal keeps; move or forget one.",
        discussion: """
            LAG is the number of outcomes behind a reader's cursor, and MISSED the number of those that were deleted \
            before it came to them, both of all producers. The cursor of a reader of some producers passes the others' \
            outcomes within seconds. While journal.history is off, --json ends with {"isKept": false}. A reader that is forgotten begins anew, with what ends from then on. In a journal \
            that is in use, the process that uses it moves and forgets.

            Examples:
              holdfast outcomes readers
              holdfast outcomes readers --move billing --to 123456
              holdfast outcomes readers --forget billing

            Exit codes: 65 there is no such cursor · 66 there is no such reader.
            """)

    @OptionGroup var placeOptions: PlaceOptions

    @Option(name: .long, help: ArgumentHelp("Forget the reader of this name.", valueName: "name"))
    var forget: String?

    @Option(name: .long, help: ArgumentHelp("Move the reader of this name, forward or back.", valueName: "name"))
    var move: String?

    @Option(
        name: .long, help: ArgumentHelp("With --move: the last outcome that counts as read.", valueName: "cursor"),
        transform: HistoryArgument.of(OutcomeArgument.cursor))
    var to: OutcomeCursor?

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard forget == nil || move == nil else {
            throw ValidationError("--forget and --move exclude each other: give one.")
        }
        guard (move == nil) == (to == nil) else { throw ValidationError("--move and --to need each other.") }
    }

    func run() async throws {
        try await reporting {
            let place = try placeOptions.place()
            if let forget { return try await change(place, forget, nil) }
            if let move { return try await change(place, move, to) }
            return try await list(place)
        }
    }

    /// The last line while the history is off.
    private struct Off: Encodable { var isKept = false }

    private func list(_ place: JournalPlace) async throws -> ToolStatus {
        let history = HistoryForm(try await place.withSource { try await $0.history() })
        let readers = history.readers
        defer { if !history.isKept { HistoryWords.sayOff() } }
        if json {
            for reader in readers { Console.standard.print(try JSONOutput.line(reader)) }
            if !history.isKept { Console.standard.print(try JSONOutput.line(Off())) }
        } else if readers.isEmpty {
            Console.standard.note("\(place) knows no readers of outcomes")
        } else {
            let rows = readers.map { reader in
                [
                    reader.reader.printable(maximumLength: 64), "\(reader.cursor)", Format.count(reader.lag),
                    reader.missed.map { Format.count($0) } ?? "",
                    reader.isWaitedFor ? "outcomes are kept until it has read them" : "",
                ]
            }
            Console.standard.print(
                Columns.text([["READER", "CURSOR", "LAG", "MISSED", "NOTE"]] + rows, right: [1, 2, 3]))
        }
        return .ok
    }

    /// - Parameter cursor: nil to forget it.
    private func change(_ place: JournalPlace, _ reader: String, _ cursor: OutcomeCursor?) async throws -> ToolStatus {
        let before = try await DeskOpener(place).withDesk { desk in
            let before = try await desk.outcomeLog().readers.first { $0.name == reader }?.cursor
            if let cursor {
                try await desk.moveOutcomeReader(reader, to: cursor)
            } else {
                try await desk.forgetOutcomeReader(reader)
            }
            return before
        }
        if json {
            Console.standard.print(try JSONOutput.line(ReaderChangeForm(reader, cursor)))
        } else {
            let name = reader.printable(maximumLength: 64)
            let change = cursor.map { "everything up to \($0) counts as read" } ?? "forgotten"
            Console.standard.print("\(name): \(change)\(before.map { "; it was at \($0)" } ?? "")")
        }
        return .ok
    }
}
