internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// `journal find` in journals whose owners are asked: asks them, and prints what they find.
struct RemoteFinding: Sendable {
    let search: RemoteSearch
    /// The most notifications to print; `.max` for all.
    let limit: Int
    let reveal: Bool
    let json: Bool
    private let hasHeading = Monitor(false)

    init(search: RemoteSearch, limit: Int, reveal: Bool, json: Bool) {
        (self.search, self.limit, self.reveal, self.json) = (search, limit, reveal, json)
    }

    /// In one journal.
    func find(_ journal: any AskedJournal) async throws -> ToolStatus {
        let found = try await journal.use { desk in try await ask(desk, nil) }
        if let facts = found.facts, !json {
            try EntryReport(facts: facts, path: journal.words).print(reveal: reveal, json: false)
            return .ok
        }
        try print([(nil, found)])
        return try end([(nil, found)], of: journal.words)
    }

    /// In all journals, or in that which has given out the UID.
    func find(_ asking: FleetAsking, uid: UID?) async throws -> ToolStatus {
        // One that no database has given out may be in any journal's history.
        let number = uid.map(ListedJournal.number(of:)).flatMap { $0 > 0 ? $0 : nil }
        let answers = try await asking.each(only: number) { desk, place in try await ask(desk, place) }
        let found = answers.answers.map { (place: FleetPlaceForm?.some($0.place), found: $0.value) }
        let hits = found.filter { $0.found.count > 0 }
        if hits.count == 1, let (place, only) = hits.first, let place, let facts = only.facts, !json {
            Console.standard.print("in journal \(place.words):")
            try EntryReport(facts: facts, path: "journal \(place.journal)").print(reveal: reveal, json: false)
            // A UID is one notification's.
            if uid == nil { try await tellUnsearched(answers.unserved, asking) }
            return try answers.tellSilent(json: json)
        }
        try print(hits)
        let status = try end(found, of: "the journals that answered")
        try await tellUnsearched(answers.unserved, asking)
        return try answers.tellSilent(json: json, status: status)
    }

    /// So many of the journals that were not searched get named for people; a fleet that grows and shrinks leaves many.
    private static let namedCount = 8

    /// A journal that was closed, and was not searched.
    private struct UnsearchedForm: Encodable {
        var place: FleetPlaceForm
        var why: String

        private enum CodingKeys: String, CodingKey { case notSearched }

        /// In one object.
        func encode(to encoder: any Encoder) throws {
            try place.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(why, forKey: .notSearched)
        }
    }

    /// Journals that nobody has taken yet have nothing that could be found.
    private func tellUnsearched(_ journals: [ListedJournal], _ asking: FleetAsking) async throws {
        let closed = try await asking.register.closed(among: journals.filter { $0.host != nil })
        for journal in json ? closed : [] {
            let form = UnsearchedForm(place: FleetPlaceForm(journal.journal), why: journal.shortWords)
            Console.standard.print(try JSONOutput.line(form))
        }
        for journal in closed.prefix(Self.namedCount) {
            Console.standard.note("journal \(journal.journal.name) was not searched: \(journal.shortWords)")
        }
        let more = closed.count - min(closed.count, Self.namedCount)
        if more > 0 {
            Console.standard.note(
                "\(Format.plural(more, "more closed journal")) \(more == 1 ? "was" : "were") not searched: `holdfast postgres status` "
                    + "lists them")
        }
    }

    /// With `--all`, prints what comes at once, and keeps the count alone.
    private func ask(_ desk: RemoteDesk, _ place: FleetPlaceForm?) async throws -> RemoteSearch.Found {
        // One more than is printed: whether there are more is told.
        guard limit == .max else { return try await search.find(of: desk, limit: limit + 1) }
        var all = RemoteSearch.Found()
        try await search.run(of: desk, limit: .max) { part in
            try printLines(part, place)
            all.unreadable += part.unreadable
            all.printed += part.count
        }
        if all.printed == 0 { all.history = try await desk.outcomeLog() }
        return all
    }

    // MARK: Printing

    private func print(_ found: [(place: FleetPlaceForm?, found: RemoteSearch.Found)]) throws {
        var left = limit
        for (place, part) in found where left > 0 {
            var part = part
            part.ended = Array(part.ended.prefix(left))
            part.waiting = Array(part.waiting.prefix(left - part.ended.count))
            left -= part.count
            try printLines(part, place)
        }
    }

    private func printLines(_ part: RemoteSearch.Found, _ place: FleetPlaceForm?) throws {
        let front = place.map { Self.placed($0.cells) } ?? ""
        var lines = try part.waiting.map { entry in
            var row = EntryRow(entry, reveal: reveal)
            row.place = place
            return json ? try row.json() : front + OutcomeRow.line(row.facts)
        }
        lines += try part.ended.map { ended in
            guard json else { return front + OutcomeRow(ended.outcome, reveal: reveal).line() }
            return try OutcomeRow(
                ended.outcome, blacklisted: ended.blacklisted, tellsStory: true, reveal: reveal
            ).entryJSON(at: place)
        }
        guard !lines.isEmpty else { return }
        let isFirst = hasHeading.withLock { hasHeading in
            defer { hasHeading = true }
            return !hasHeading
        }
        if isFirst, !json {
            lines.insert((place == nil ? "" : Self.placed(FleetPlaceForm.heading)) + OutcomeRow.heading, at: 0)
        }
        Console.standard.print(lines.joined(separator: "\n"))
    }

    /// The first columns.
    private static func placed(_ cells: [String]) -> String {
        zip(cells, [12, 12]).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.count)) + "  "
        }.joined()
    }

    /// Whether more match than were printed, and damage: the last lines.
    private struct End: Encodable {
        var more: Bool?
        var unreadable: Int?
    }

    private func end(
        _ found: [(place: FleetPlaceForm?, found: RemoteSearch.Found)], of journals: String
    ) throws -> ToolStatus {
        let unreadable = found.reduce(0) { $0 + $1.found.unreadable }
        let count = found.reduce(0) { $0 + $1.found.count + $1.found.printed }
        if limit < .max, count > limit {
            if json { Console.standard.print(try JSONOutput.line(End(more: true))) }
            Console.standard.note("more match: --all prints all of them, and --limit more of them")
        }
        if unreadable > 0 {
            if json { Console.standard.print(try JSONOutput.line(End(unreadable: unreadable))) }
            HistoryWords.sayUnreadable(unreadable)
        }
        guard count == 0 else { return .ok }
        if !json {
            Console.standard.note("nothing of \(journals) matches")
            for (place, part) in found {
                guard let history = part.history else { continue }
                Console.standard.note("\(place?.words ?? journals): \(HistoryWords.extent(of: history))")
            }
        }
        return unreadable > 0 ? .unreadable : .notAllConfirmed
    }
}
