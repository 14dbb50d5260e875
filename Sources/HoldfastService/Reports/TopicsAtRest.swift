package import Holdfast
package import HoldfastJournal

/// Which topics the entries of a journal at rest wait for, as their records tell.
package enum TopicsAtRest {
    /// Entries of a lane that are looked at.
    private static let limit = 100

    /// By lane, why its first deferred entries wait although it runs; none for lanes whose first wait for a time.
    package static func read(_ lanes: [JournalStatus.Lane], _ reader: JournalReader) throws(JournalError) -> [LaneKey:
        String]
    {
        var words: [LaneKey: String] = [:]
        for lane in lanes where lane.deferred > 0 {
            var filter = EntryFilter()
            filter.lanes = LanePattern(lane.key.description).map { [$0] } ?? []
            filter.states = [.deferred]
            do throws(JournalError) {
                words[lane.key] = Self.words(try reader.entries(matching: filter, limit: limit))
            } catch {
                // The listing of a damaged journal tells of the damage.
                guard error.code == .damaged else { throw error }
            }
        }
        return words
    }

    private static func words(_ entries: [JournalEntry]) -> String? {
        let topics = entries.compactMap { entry -> String? in
            guard case .deferred(let due) = entry.state, due.isPlaceOfTopic else { return nil }
            return entry.notification.topic
        }
        let names = Set(topics).sorted()
        guard !names.isEmpty else { return nil }
        return "entries wait for what was set aside: topic " + names.joined(separator: ", ")
    }
}
