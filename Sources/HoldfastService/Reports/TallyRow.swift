internal import Holdfast
package import HoldfastJournal

/// How many entries of one kind there are. The names of its properties are those of the JSON.
package struct TallyRow: Encodable, Equatable, Sendable {
    package var lane: String
    /// `nil` for the rest, if there are too many topics to tell apart.
    package var topic: String?
    package var state: String
    package var count: Int
    package var oldestAcceptedAt: String

    package init(_ tally: EntryTally) {
        lane = tally.lane.description
        topic = tally.topic
        state = EntryRow.name(tally.state)
        count = tally.count
        oldestAcceptedAt = Timestamp.format(tally.oldest)
    }
}
