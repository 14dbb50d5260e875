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
    func print(_ filter: EntryFilter, of reader: JournalReader, whereElse: String? = nil) throws {
        if count {
            var filter = filter
            if after > 0 { filter.uids = filter.uids.above(UID(after)) }
            return try printCounts(try reader.tally(matching: filter))
        }
        var listing = reader.listing(matching: filter, after: UID(after), limit: limit)
        var printed = 0
        var last = UID(after)
        while let page = try listing.next() {
            guard let end = page.last else { continue }
            if printed == 0, !json { Console.standard.print(EntryRow.heading) }
            let lines = try page.map { entry in
                let row = EntryRow(entry, reveal: reveal)
                return json ? try row.json() : row.line()
            }
            Console.standard.print(lines.joined(separator: "\n"))
            printed += page.count
            last = end.uid
        }
        if printed == 0, !json {
            Console.standard.note("there are no such entries\(whereElse.map { "; \($0)" } ?? "")")
        }
        listing.tellUnreadable()
        if printed == limit, !json { Console.standard.note("more may follow: --after \(last)") }
    }

    private func printCounts(_ tallies: [EntryTally]) throws {
        let rows = tallies.map(TallyRow.init)
        guard json else { return Console.standard.print(TallyRow.table(rows)) }
        for row in rows { Console.standard.print(try JSONOutput.line(row)) }
    }
}

extension EntryListing {
    /// Says what was left out because it cannot be read.
    func tellUnreadable(_ console: Console = .standard) {
        guard unreadableCount > 0, let firstFault else { return }
        let count = Format.plural(unreadableCount, "entry whose record", "entries whose records")
        console.note(
            "\(count) cannot be read \(unreadableCount == 1 ? "is" : "are") left out; the first: \(firstFault)")
    }
}
