/// For modules of this package that tell senders how their notifications ended.
extension PushEngine {
    /// Tells the outcomes of single notifications; `nil` while the engine keeps none.
    package var outcomeFeed: OutcomeFeed? { producer.configuration.logsOutcomes ? core.outcomeFeed : nil }
}

extension Producer {
    /// The blacklist's entry because of which a notification was rejected as ``Reason/blacklisted``; `nil` if it was removed
    /// since, or can't be read.
    package func blacklistEntry(for recipient: Recipient, topic: String) -> BlacklistEntry? {
        guard let endpoint = terms.routes.serviceIdentity(for: topic) else { return nil }
        do throws(JournalError) {
            return TokenBlacklist.forbidding(
                try blacklist.entries(for: recipient), topic: topic, endpoint: endpoint, registeredAt: nil,
                now: clock.wall())
        } catch {
            return nil
        }
    }
}

/// For a journal that shares queues with applications: what they submit, and what they are told.
extension PushEngine {
    /// Submits rows of a queue under a Producer's name, without waiting. See ``Submission/taking``.
    ///
    /// - Parameters:
    ///   - rows: one for each notification.
    ///   - onCommit: gets the receipts as in ``Producer/submit(_:onCommit:)``, unless this throws.
    /// - Throws: as ``producer(named:)``.
    package func submit(
        _ notifications: [PushNotification], as producer: String, taking rows: [QueueRow],
        onCommit: @escaping @Sendable ([Receipt]) -> Void
    ) throws {
        try self.producer(named: producer).submit(notifications, taking: rows, onCommit: onCommit)
    }

    /// The earliest time that it may be; the wall clock's time while the clock is trusted.
    package var earliestTime: WallTime { producer.look(producer.clock.wall()).earliest }

    /// How long identities are to be remembered, and how many.
    package var identityBounds: (age: Duration, limit: Int) {
        let configuration = producer.configuration
        return (configuration.identityAge, configuration.identityLimit)
    }

    /// The log of outcomes, for a reader that keeps its cursor elsewhere.
    package var outcomeReading: OutcomeLogReading { OutcomeLogReading(core.journal) }
}
