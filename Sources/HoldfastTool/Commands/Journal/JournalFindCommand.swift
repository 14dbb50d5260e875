internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct JournalFindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Tell what became of notifications: those that have ended, and those that wait.",
        discussion: """
            One that is found is explained in sentences: when it was accepted and sent, what the service answered, and \
            what that means. Several are a table: those that wait, and then those that have ended, the newest first. \
            How long ended ones are kept is journal.history of the configuration; rejections are kept for longer, and \
            found as well. All flags that are given have to hold. Tokens and payloads are personal data: they are \
            shortened unless --reveal is given.

            Examples:
              holdfast journal find --apns-id 6f2f7b0e-6d1c-4d3b-9c38-6a2c2a0b2f0e
              holdfast journal find --token 00fc13adff785122b4ad28809a3420982341241421348097 --since 10m
              holdfast journal find --outcome rejected --topic com.example.app --since 1d --all --json
              holdfast journal find --token 00fc13adff785122b4ad28809a3420982341241421348097 --fleet

            Exit codes: 0 something was found · 1 nothing was found · 72 nothing was found, and a part of the history could \
            not be looked at, since the journal is damaged · 68 a journal of the fleet did not answer; what was found in the \
            others is printed.
            """)

    @OptionGroup var historyOptions: HistoryOptions
    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var fleetOptions: FleetOptions

    @Option(name: .long, help: ArgumentHelp("The most notifications to print.", valueName: "count"))
    var limit = 100

    @Flag(name: .long, help: "Print all of them.")
    var all = false

    @Flag(name: .long, help: "Print tokens, contexts and payloads whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
        try fleetOptions.check(placeOptions)
    }

    func run() async throws { try await reporting { try await find() } }

    private func find() async throws -> ToolStatus {
        let remote = RemoteFinding(
            search: RemoteSearch(question: historyOptions.question), limit: all ? .max : limit, reveal: reveal,
            json: json)
        if fleetOptions.fleet {
            return try await remote.find(try fleetOptions.asking(placeOptions), uid: historyOptions.uid)
        }
        let path: String
        switch try placeOptions.place(of: historyOptions.uid.map { UIDRanges([$0]) }) {
        case .directory(let directory): path = directory
        case .served(let journal): return try await remote.find(journal)
        case .fleet(let journal): return try await remote.find(journal)
        }
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        var search = HistorySearch(reader: reader, question: historyOptions.question)
        search.onProgress = { done, total in
            Console.standard.showStatus("looked through: \(Format.count(done)) of \(Format.count(total)) ended")
        }
        defer { Console.standard.showStatus("") }
        if all { return try printAll(&search) }
        // One more than is printed: whether there are more is told.
        let most = limit == .max ? limit : limit + 1
        var ended = try search.ended(limit: most)
        // A UID is one notification's.
        let isFound = historyOptions.uid != nil && !ended.isEmpty
        var waiting = isFound ? [] : try search.waiting(limit: most - ended.count)
        var older = isFound ? [] : try search.oldRejections(limit: most - ended.count - waiting.count)
        Console.standard.showStatus("")
        let isMore = waiting.count + older.count + ended.count > limit
        ended = Array(ended.prefix(limit))
        waiting = Array(waiting.prefix(limit - ended.count))
        older = Array(older.prefix(limit - ended.count - waiting.count))
        switch (waiting.count + older.count, ended.count) {
        case (0, 0): return try tellNothing(reader, unreadable: search.unreadable)
        case (0, 1) where !json: try tell(ended[0], reader)
        case (1, 0) where !json: try await tell((waiting + older)[0], path)
        default: try print(waiting, ended, older, reader)
        }
        if isMore { try tellMore() }
        try tellUnreadable(search.unreadable)
        return .ok
    }

    /// Whether more match than were printed: the last line.
    private struct More: Encodable { var more = true }

    private func tellMore() throws {
        if json { Console.standard.print(try JSONOutput.line(More())) }
        Console.standard.note("more match: --all prints all of them, and --limit more of them")
    }

    /// Ended notifications that could not be looked at: the last line.
    private struct Unreadable: Encodable { var unreadable: Int }

    private func tellUnreadable(_ count: Int) throws {
        guard count > 0 else { return }
        if json { Console.standard.print(try JSONOutput.line(Unreadable(unreadable: count))) }
        HistoryWords.sayUnreadable(count)
    }

    private func printAll(_ search: inout HistorySearch) throws -> ToolStatus {
        var count = 0
        let reader = search.reader
        func show(_ waiting: [JournalEntry], _ ended: [Outcome], _ older: [JournalEntry]) throws {
            guard !waiting.isEmpty || !ended.isEmpty || !older.isEmpty else { return }
            try print(waiting, ended, older, reader, isFirst: count == 0)
            count += waiting.count + ended.count + older.count
        }
        try show(try search.waiting(limit: .max), [], [])
        try search.ended(limit: OperatorDeskLimits.batch) { page in
            try show([], page, [])
            return Console.standard.hasReader
        }
        try show([], [], try search.oldRejections(limit: .max))
        Console.standard.showStatus("")
        if count == 0 { return try tellNothing(reader, unreadable: search.unreadable) }
        try tellUnreadable(search.unreadable)
        return .ok
    }

    // MARK: Printing

    private func print(
        _ waiting: [JournalEntry], _ ended: [Outcome], _ older: [JournalEntry], _ reader: JournalReader,
        isFirst: Bool = true
    ) throws {
        var lines = isFirst && !json ? [OutcomeRow.heading] : []
        func line(_ entry: JournalEntry) throws -> String {
            let row = EntryRow(entry, reveal: reveal)
            return json ? try row.json() : OutcomeRow.line(row.facts)
        }
        lines += try waiting.map(line)
        lines += try ended.map { outcome in
            guard json else { return OutcomeRow(outcome, reveal: reveal).line() }
            let entry = try reader.blacklisted(outcome.recipient, topic: outcome.topic)
            return try OutcomeRow(outcome, blacklisted: entry, tellsStory: true, reveal: reveal).entryJSON()
        }
        lines += try older.map(line)
        Console.standard.print(lines.joined(separator: "\n"))
    }

    private func tell(_ outcome: Outcome, _ reader: JournalReader) throws {
        var facts = EntryFacts(
            uid: outcome.uid, standing: .ended(outcome), owner: reader.owner, now: EngineClock.system.wall())
        facts.blacklisted = try reader.blacklisted(outcome.recipient, topic: outcome.topic)
        try EntryReport(facts: facts, path: reader.directory).print(reveal: reveal, json: false)
    }

    private func tell(_ entry: JournalEntry, _ path: String) async throws {
        let facts = try await EntryFacts.find(entry.uid, in: path)
        try EntryReport(facts: facts, path: path).print(reveal: reveal, json: false)
    }

    /// Nothing was found, and why that may be.
    private func tellNothing(_ reader: JournalReader, unreadable: Int) throws -> ToolStatus {
        try tellUnreadable(unreadable)
        let status: ToolStatus = unreadable > 0 ? .unreadable : .notAllConfirmed
        // That nothing can be found is said in any case: it is no answer.
        guard try !json || !reader.history().isKept else { return status }
        Console.standard.note(
            "nothing of \(reader.directory) matches: \(HistoryWords.extent(of: try reader.history()))")
        return status
    }
}
