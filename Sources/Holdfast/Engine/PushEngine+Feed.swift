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
