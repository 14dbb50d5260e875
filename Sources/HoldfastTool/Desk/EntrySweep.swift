internal import Holdfast
internal import HoldfastJournal

/// All entries that a filter wants, first counted, and then, with consent, gone through a thousand at a time. What is
/// accepted after the counting is left alone.
struct EntrySweep {
    let journal: String
    let filter: EntryFilter

    /// - Returns: how many there are, and the filter with which to go through them.
    func counted() throws -> (count: Int, EntrySweep) {
        let reader = try JournalReader(directory: journal)
        defer { reader.close() }
        try UnknownLanes.tell(filter.lanes, in: reader)
        var filter = filter
        // Before the counting: an entry that comes in between is not meant.
        filter.uids = filter.uids.below(try reader.status().nextUID)
        let count = try reader.tally(matching: filter).reduce(0) { $0 + $1.count }
        return (count, EntrySweep(journal: journal, filter: filter))
    }

    /// The UIDs of those among them whose records cannot be read, where they were put or in quarantine.
    func unreadable() throws -> [UID] {
        let reader = try JournalReader(directory: journal)
        defer { reader.close() }
        var found: [UID] = []
        var listing = reader.listing(matching: filter)
        while try listing.next() != nil { found += listing.unreadable }
        var last = UID.none
        while true {
            let page = try reader.quarantined(after: last, limit: OperatorDeskLimits.batch)
            guard let end = page.last?.uid else { return found }
            found += page.map(\.uid).filter(filter.uids.contains)
            last = end
        }
    }

    /// With the desk open: whoever owns the journal may read it too.
    func run(_ body: ([JournalEntry]) async throws -> Void) async throws {
        let reader = try JournalReader(directory: journal)
        defer { reader.close() }
        var listing = reader.listing(matching: filter)
        while let page = try listing.next() {
            var rest = page[...]
            while !rest.isEmpty {
                try await body(Array(rest.prefix(OperatorDeskLimits.batch)))
                rest = rest.dropFirst(OperatorDeskLimits.batch)
            }
        }
    }
}

extension UIDRanges {
    /// The UIDs of the set that are below `uid`.
    func below(_ uid: UID) -> UIDRanges {
        UIDRanges(
            ranges.compactMap { range in
                range.lowerBound < uid.rawValue ? range.lowerBound...min(range.upperBound, uid.rawValue - 1) : nil
            })
    }
}
