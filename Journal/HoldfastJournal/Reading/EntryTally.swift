package import Holdfast

/// The number of entries of one kind.
package struct EntryTally: Hashable, Sendable {
    package let lane: LaneKey
    /// Nil for all of the lane and state whose topics were too many to count one by one.
    package let topic: String?
    package let state: JournalEntry.StateKind
    package internal(set) var count: Int
    /// When the first of them was accepted.
    package internal(set) var oldest: WallTime

    fileprivate mutating func take(_ entry: JournalEntry) {
        count += 1
        oldest = min(oldest, entry.acceptedAt)
    }
}

extension JournalReader {
    /// Lanes, topics and states that are told apart; entries beyond these are counted without their topic.
    private static let greatestTallyCount = 10_000

    /// Counts what `filter` wants, by lane, topic and state; in that order.
    ///
    /// Entries whose records cannot be read are not counted.
    ///
    /// - Throws: ``JournalError``.
    package func tally(matching filter: EntryFilter) throws(JournalError) -> [EntryTally] {
        struct Kind: Hashable {
            let lane: LaneKey
            let topic: String?
            let state: JournalEntry.StateKind
        }
        var tallies: [Kind: EntryTally] = [:]
        var listing = listing(matching: filter)
        while let page = try listing.next() {
            for entry in page {
                var kind = Kind(lane: entry.lane, topic: entry.notification.topic, state: entry.state.kind)
                if tallies[kind] == nil, tallies.count >= Self.greatestTallyCount {
                    kind = Kind(lane: entry.lane, topic: nil, state: entry.state.kind)
                }
                let new = EntryTally(
                    lane: kind.lane, topic: kind.topic, state: kind.state, count: 0, oldest: entry.acceptedAt)
                tallies[kind, default: new].take(entry)
            }
        }
        let states = JournalEntry.StateKind.allCases
        return tallies.values.sorted { one, other in
            if one.lane != other.lane { return one.lane.description < other.lane.description }
            if one.topic != other.topic { return one.topic ?? "" < other.topic ?? "" }
            return states.firstIndex(of: one.state) ?? 0 < states.firstIndex(of: other.state) ?? 0
        }
    }
}
