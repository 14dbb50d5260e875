internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Entries in the order of their UIDs.",
        discussion: """
            Of a journal that is in use the list is not of one instant: a page of it is. Tokens and payloads are shortened \
            unless --reveal is given; they are personal data.
            """)

    enum StateChoice: String, ExpressibleByArgument, CaseIterable {
        case unconfirmed
        case neverSent = "never-sent"
        case possiblySent = "possibly-sent"
        case deferred, rejected

        var kinds: Set<JournalEntry.StateKind> {
            switch self {
            case .unconfirmed: [.neverSent, .possiblySent, .deferred]
            case .neverSent: [.neverSent]
            case .possiblySent: [.possiblySent]
            case .deferred: [.deferred]
            case .rejected: [.rejected]
            }
        }
    }

    @OptionGroup var journalOptions: JournalOptions

    @Option(name: .long, help: ArgumentHelp("The most entries.", valueName: "count"))
    var limit = 100

    @Option(name: .long, help: ArgumentHelp("Begin behind this one.", valueName: "uid"))
    var after: UInt64 = 0

    @Option(name: .long, help: "Only those in this state; may be repeated.")
    var state: [StateChoice] = []

    @Flag(name: .long, help: "Print tokens and payloads whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    /// Entries that are read at a time, and printed before more are read.
    private static let pageCount = 2000

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws { try await reporting { try list() } }

    private func list() throws -> ToolStatus {
        let reader = try JournalReader(directory: try journalOptions.path())
        defer { reader.close() }
        let states = state.isEmpty ? nil : state.reduce(into: Set()) { $0.formUnion($1.kinds) }
        var last = UID(after)
        var count = 0
        while count < limit {
            let wanted = min(limit - count, Self.pageCount)
            let entries = try reader.entries(after: last, limit: wanted, states: states)
            guard let end = entries.last else { break }
            if count == 0, !json { Console.standard.print(EntryRow.heading) }
            let lines = try entries.map { entry in
                let row = EntryRow(entry, reveal: reveal)
                return json ? try row.json() : row.line()
            }
            Console.standard.print(lines.joined(separator: "\n"))
            count += entries.count
            last = end.uid
        }
        if count == 0, !json { Console.standard.note("there are no such entries") }
        if count == limit, !json { Console.standard.note("more may follow: --after \(last)") }
        return .ok
    }
}
