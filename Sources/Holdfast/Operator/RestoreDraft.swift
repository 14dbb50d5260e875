/// Entries of another journal on their way into this one.
struct RestoreDraft: Sendable {
    private var bytes: [UInt8] = []
    private var items: [Submission.Item] = []
    private var histories: [(index: Int, history: EntryHistory)] = []

    var firstProducer: ProducerID? { histories.first?.history.producer }

    /// - Parameter producer: the number of the entry's Producer in this journal.
    mutating func add(_ entry: RestoredEntry, lane: LaneID, producer: ProducerID) {
        let notification = entry.notification
        let start = bytes.count
        // Without an id or an expiration it never came out of a journal; then it has what acceptance would have given it.
        let expiration = notification.expiration(
            acceptedAt: entry.acceptedAt, defaultLifetime: EngineConfiguration().defaultLifetime)
        PackedNotification.append(
            notification, id: notification.id ?? NotificationID(), expiration: expiration, acceptedAt: entry.acceptedAt,
            producer: entry.producer == ProducerTable.standardName ? "" : entry.producer,
            retryOf: entry.retryOf ?? .none, to: &bytes)
        var history = entry.history
        history.producer = producer
        histories.append((items.count, history))
        items.append(Submission.Item(lane: lane, range: start..<bytes.count))
    }

    func submission(
        producer: ProducerID, now: WallTime, earliestTime: WallTime?, note: (name: String, value: [UInt8])?
    ) -> Submission {
        Submission(
            producer: producer, acceptedAt: now, earliestTime: earliestTime, bytes: bytes, items: items,
            histories: histories, note: note)
    }
}
