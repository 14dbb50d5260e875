/// The recipients that must not be sent to: device tokens, and other services' addresses of devices.
///
/// An entry is for a recipient, a topic and a push service, because a token that is bad for one app, or in one environment,
/// is good for others. An entry without a topic or a service covers all of them. Entries are stored in the journal.
public struct TokenBlacklist: Sendable {
    package let storage: any BlacklistStorage

    package init(storage: any BlacklistStorage) { self.storage = storage }

    /// The number of recipients that have entries.
    public var count: Int { storage.count }

    /// The entry that forbids sending to `recipient`, or nil. Of several, the one that holds since the latest time.
    ///
    /// - Parameters:
    ///   - topic: nil asks for any topic.
    ///   - endpoint: the push service, as ``Connector/serviceIdentity`` names it; nil asks for any.
    ///   - registeredAt: when the app last registered the recipient, if that is known. A registration that is strictly newer
    ///     than an entry lifts it.
    ///   - now: an entry that expires by then forbids nothing. Nil takes none for expired.
    public func isBlacklisted(
        _ recipient: Recipient, topic: String? = nil, endpoint: String? = nil, registeredAt: WallTime? = nil,
        now: WallTime? = nil
    ) throws(JournalError) -> BlacklistEntry? {
        guard storage.count > 0 else { return nil }
        return Self.forbidding(
            try storage.entries(for: recipient), topic: topic, endpoint: endpoint, registeredAt: registeredAt, now: now)
    }

    /// The entry that forbids sending to `token`, or nil: ``isBlacklisted(_:topic:endpoint:registeredAt:now:)`` of a device.
    public func isBlacklisted(
        _ token: DeviceToken, topic: String? = nil, endpoint: String? = nil, registeredAt: WallTime? = nil
    ) throws(JournalError) -> BlacklistEntry? {
        try isBlacklisted(.device(token), topic: topic, endpoint: endpoint, registeredAt: registeredAt)
    }

    /// Adds or renews entries, durably on return.
    public func add(_ entries: [BlacklistEntry]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            storage.add(entries) { result in continuation.resume(with: result.mapError { $0 as any Error }) }
        }
    }

    /// Removes all entries of recipients, durably on return.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func remove(_ recipients: [Recipient]) throws(JournalError) -> Int { try storage.remove(recipients) }

    /// Removes entries, durably on return.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int { try storage.remove(keys) }

    /// The entries of a recipient, whether they hold or not.
    public func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        try storage.entries(for: recipient)
    }

    /// The entries of a device token, whether they hold or not.
    public func entries(for token: DeviceToken) throws(JournalError) -> [BlacklistEntry] {
        try entries(for: .device(token))
    }

    /// Entries in the order of their tokens, from the first token above `after`, and behind them those of other services'
    /// addresses. The entries of one recipient come together, so there may be a few more than `limit`; fewer are the last.
    public func entries(after: Recipient? = nil, limit: Int = 1000) throws(JournalError) -> [BlacklistEntry] {
        try storage.list(after: after, limit: limit)
    }

    /// Of a recipient's entries the one that forbids a notification.
    package static func forbidding(
        _ entries: [BlacklistEntry], topic: String?, endpoint: String?, registeredAt: WallTime?,
        now: WallTime?
    ) -> BlacklistEntry? {
        entries.filter { entry in
            holds(entry, registeredAt: registeredAt, now: now) && entry.scope.covers(topic: topic, endpoint: endpoint)
        }.max { $0.since < $1.since }
    }

    /// Whether an entry forbids sending, given when its recipient was registered.
    static func holds(_ entry: BlacklistEntry, registeredAt: WallTime?, now: WallTime? = nil) -> Bool {
        if let now, entry.hasEnded(at: now) { return false }
        guard let registeredAt else { return true }
        return registeredAt <= entry.since
    }
}
