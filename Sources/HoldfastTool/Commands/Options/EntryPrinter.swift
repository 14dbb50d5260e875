internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// How entries are listed: how many, from where, and in which form.
struct EntryPrinter: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The most entries to print.", valueName: "count"))
    var limit = 100

    @Option(name: .long, help: ArgumentHelp("Begin behind the entry with this UID.", valueName: "uid"))
    var after: UInt64 = 0

    @Flag(name: .long, help: "Print counts by lane, topic and state instead of entries.")
    var count = false

    @Flag(name: .long, help: "Print tokens and payloads whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
        guard !count || !reveal else { throw ValidationError("--count lists nothing that --reveal could show.") }
    }

    /// - Parameter whereElse: said where nothing is there.
    func print(_ filter: EntryFilter, of source: any JournalSource, whereElse: String? = nil) async throws {
        if count {
            var filter = filter
            if after > 0 { filter.uids = filter.uids.above(UID(after)) }
            return try printCounts(try await source.tally(filter).tallies)
        }
        var (printed, unreadable) = (0, 0)
        var fault: String?
        var next: UID? = UID(after)
        var last = UID(after)
        while let start = next, printed < limit {
            let part = try await source.entries(filter, after: start, limit: limit - printed)
            next = part.end
            unreadable += part.unreadable.count
            fault = fault ?? part.fault
            guard let end = part.entries.last else { continue }
            if printed == 0, !json { Console.standard.print(EntryRow.heading) }
            let lines = try part.entries.map { entry in
                let row = EntryRow(entry, reveal: reveal)
                return json ? try row.json() : row.line()
            }
            Console.standard.print(lines.joined(separator: "\n"))
            printed += part.entries.count
            last = end.uid
        }
        if printed == 0, !json {
            Console.standard.note("there are no such entries\(whereElse.map { "; \($0)" } ?? "")")
        }
        UnreadableEntries.tell(unreadable, first: fault)
        if printed == limit, !json { Console.standard.note("more may follow: --after \(last)") }
    }

    private func printCounts(_ tallies: [EntryTally]) throws {
        let rows = tallies.map(TallyRow.init)
        guard json else { return Console.standard.print(TallyRow.table(rows)) }
        for row in rows { Console.standard.print(try JSONOutput.line(row)) }
    }
}

/// Entries that were left out because their records cannot be read.
enum UnreadableEntries {
    static func tell(_ number: Int, first fault: String?, _ console: Console = .standard) {
        guard number > 0, let fault else { return }
        let count = Format.plural(number, "entry whose record", "entries whose records")
        console.note("\(count) cannot be read \(number == 1 ? "is" : "are") left out; the first: \(fault)")
    }
}
