/// The tokens and topics of entries that answers refused, read from the journal.
///
/// An answer names an entry by its ticket; only the journal has its token and its topic.
struct Evidence: Sendable {
    /// Nothing for an entry that has met its end, or that can't be read.
    var tokens: [EntryKey: TokenOfTopic] = [:]
    var topics: [EntryKey: String] = [:]
}

extension Settler {
    /// Reads what a plan asks about.
    ///
    /// - Throws: ``JournalError`` when the entries can't be read.
    func evidence(for plan: SettlementPlan, lanes: [LaneID]) throws(JournalError) -> Evidence {
        var evidence = Evidence()
        for (lane, id) in lanes.enumerated() {
            let flights = (plan.suspects + plan.refusedTopics).map(\.flight).filter { $0.lane == lane }
            guard !flights.isEmpty else { continue }
            for (uid, notification) in try notifications(Set(flights.map(\.uid)).sorted(), lane: id) {
                let key = EntryKey(lane: id, uid: uid)
                evidence.topics[key] = notification.topic
                // What is said of many devices says nothing of one.
                guard !notification.recipient.isBroadcast else { continue }
                evidence.tokens[key] = TokenOfTopic(recipient: notification.recipient, topic: notification.topic)
            }
        }
        return evidence
    }
}
