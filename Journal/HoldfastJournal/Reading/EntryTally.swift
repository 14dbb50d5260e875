package import Holdfast

/// The number of entries of one kind.
package struct EntryTally: Hashable, Sendable {
    package let lane: LaneKey
    /// Nil for all of the lane and state whose topics were too many to count one by one.
    package let topic: String?
    package let state: JournalEntry.StateKind
    package fileprivate(set) var count: Int
    /// When the first of them was accepted.
    package fileprivate(set) var oldest: WallTime

    package init(lane: LaneKey, topic: String?, state: JournalEntry.StateKind, count: Int, oldest: WallTime) {
        (self.lane, self.topic, self.state, self.count, self.oldest) = (lane, topic, state, count, oldest)
    }
}

/// Counts entries by lane, topic and state.
package struct EntryCount: Sendable {
    /// Lanes, topics and states that are told apart; entries beyond these are counted without their topic.
    private static let greatestTallyCount = 10_000

    private struct Kind: Hashable {
        let lane: LaneKey
        let topic: String?
        let state: JournalEntry.StateKind
    }

    private var tallies: [Kind: EntryTally] = [:]

    package init() {}

    package mutating func add(_ entry: JournalEntry) {
        add(
            EntryTally(
                lane: entry.lane, topic: entry.notification.topic, state: entry.state.kind, count: 1,
                oldest: entry.acceptedAt))
    }

    /// Adds what was counted elsewhere.
    package mutating func add(_ tally: EntryTally) {
        var kind = Kind(lane: tally.lane, topic: tally.topic, state: tally.state)
        if tallies[kind] == nil, tallies.count >= Self.greatestTallyCount {
            kind = Kind(lane: tally.lane, topic: nil, state: tally.state)
        }
        let new = EntryTally(
            lane: kind.lane, topic: kind.topic, state: kind.state, count: 0, oldest: tally.oldest)
        tallies[kind, default: new].count += tally.count
        tallies[kind, default: new].oldest = min(tallies[kind, default: new].oldest, tally.oldest)
    }

    /// By lane, topic and state; in that order.
    package var sorted: [EntryTally] {
        let states = JournalEntry.StateKind.allCases
        return tallies.values.sorted { one, other in
            if one.lane != other.lane { return one.lane.description < other.lane.description }
            if one.topic != other.topic { return one.topic ?? "" < other.topic ?? "" }
            return states.firstIndex(of: one.state) ?? 0 < states.firstIndex(of: other.state) ?? 0
        }
    }
}

extension JournalReader {
    /// Counts what `filter` wants, by lane, topic and state; in that order.
    ///
    /// Entries whose records cannot be read are not counted.
    ///
    /// - Throws: ``JournalError``.
    package func tally(matching filter: EntryFilter) throws(JournalError) -> [EntryTally] {
        var count = EntryCount()
        var listing = listing(matching: filter)
        while let page = try listing.next() {
            for entry in page { count.add(entry) }
        }
        return count.sorted
    }
}
