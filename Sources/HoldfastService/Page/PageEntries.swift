internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// The journal's entries: listed, counted, and one explained.
enum PageEntries {
    static let operations: [PageOperation] = [
        .reading("api/entries", PageItems.entryNames + ["state", "after", "limit"]) { call in
            let filter = try call.items.filter(try EntryStates.read(call.items["state"]))
            let after = try call.items.value("after", OutcomeArgument.cursor).map { UID($0.rawValue) } ?? .none
            let limit = try call.items.limit()
            return PageReply.json(try await call.journal.read { try list($0, filter, after: after, limit) })
        },
        .reading("api/tally", PageItems.entryNames + ["state"]) { call in
            let filter = try call.items.filter(try EntryStates.read(call.items["state"]))
            return try PageReply.json(try await call.journal.read { try tally($0, filter) })
        },
        .reading("api/entry", ["uid"]) { call in
            _ = try call.items.need("uid")
            let uid = try call.items.value("uid", OutcomeArgument.uid) ?? .none
            if let fleet = call.service.fleet(), let number = fleet.elsewhere(uid) {
                return PageReply.json(try await PageFleetSearch.explained(uid, of: number, fleet))
            }
            return PageReply.json(try await explained(uid, call.journal))
        },
    ]

    // MARK: Several

    private static func list(
        _ reader: JournalReader, _ filter: EntryFilter, after: UID, _ limit: Int
    ) throws -> String {
        let deadline = PageDeadline()
        var listing = reader.listing(matching: filter, after: after, limit: limit)
        var rows: [String] = []
        var unreadable = 0
        while let page = try listing.next() {
            rows += try page.map { try EntryRow($0, reveal: false).json() }
            unreadable += listing.unreadable.count
            if deadline.hasPassed || rows.count >= limit { break }
        }
        let next = listing.position.map { ",\"next\":\($0)" } ?? ""
        let damage = unreadable > 0 ? ",\"unreadable\":\(unreadable)" : ""
        return "{\"entries\":[\(rows.joined(separator: ","))]\(next)\(damage)}"
    }

    private struct Tally: Encodable {
        var counts: [TallyRow]
        var total: Int
        /// The UID that the next notification was to get: what has a lower one was counted.
        var nextUID: UInt64
        /// Whether all was looked at, in the time that a request has.
        var isWhole: Bool
    }

    private static func tally(_ reader: JournalReader, _ filter: EntryFilter) throws -> Tally {
        let deadline = PageDeadline()
        let next = try reader.status().nextUID
        var listing = reader.listing(matching: filter)
        var count = EntryCount()
        var total = 0
        var isWhole = true
        while let page = try listing.next() {
            for entry in page { count.add(entry) }
            total += page.count
            if deadline.hasPassed, listing.position != nil {
                isWhole = false
                break
            }
        }
        return Tally(
            counts: count.sorted.map { TallyRow($0) }, total: total, nextUID: next.rawValue, isWhole: isWhole)
    }

    // MARK: One

    private static func explained(_ uid: UID, _ journal: PageJournal) async throws -> String {
        var facts = try await journal.read { try EntryFacts.read(uid, $0) }
        if case .entry(let entry) = facts.standing {
            facts.live = try await LiveFacts(of: uid, in: entry.lane, from: journal.desk)
        }
        if let json = try facts.json(reveal: false) { return json }
        if case .never = facts.standing {
            throw JournalError(.notFound, "this journal never had an entry \(uid)")
        }
        throw JournalError(.notFound, "the journal has no entry \(uid) any more: it was settled")
    }
}
