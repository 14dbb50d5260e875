internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// All entries that a filter wants, first counted, and then, with consent, gone through a thousand at a time. What is
/// accepted after the counting is left alone.
struct EntrySweep {
    let place: JournalPlace
    let filter: EntryFilter

    /// - Returns: how many there are, and the filter with which to go through them.
    func counted() async throws -> (count: Int, EntrySweep) {
        try await place.withSource { source in
            try await UnknownLanes.tell(filter.lanes, in: source)
            let (tallies, next) = try await source.tally(filter)
            var filter = filter
            filter.uids = filter.uids.below(next)
            return (tallies.reduce(0) { $0 + $1.count }, EntrySweep(place: place, filter: filter))
        }
    }

    /// The UIDs of those among them whose records cannot be read, where they were put or, in the files of this machine, in
    /// quarantine.
    func unreadable() async throws -> [UID] {
        try await place.withSource { source in
            var found: [UID] = []
            var after: UID? = UID.none
            while let last = after {
                let part = try await source.entries(filter, after: last, limit: OperatorDeskLimits.batch)
                found += part.unreadable
                after = part.end
            }
            guard let reader = (source as? LocalSource)?.reader else { return found }
            var last = UID.none
            while true {
                let page = try reader.quarantined(after: last, limit: OperatorDeskLimits.batch)
                guard let end = page.last?.uid else { return found }
                found += page.map(\.uid).filter(filter.uids.contains)
                last = end
            }
        }
    }

    /// With the desk open: whoever owns the journal may read it too.
    func run(_ body: ([JournalEntry]) async throws -> Void) async throws {
        try await place.withSource { source in
            var after: UID? = UID.none
            while let last = after {
                let part = try await source.entries(filter, after: last, limit: OperatorDeskLimits.batch)
                if !part.entries.isEmpty { try await body(part.entries) }
                after = part.end
            }
        }
    }
}
