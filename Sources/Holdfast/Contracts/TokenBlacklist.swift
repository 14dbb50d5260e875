/// Tokens that are not to be sent to. The storage is the journal's; the rules are these.
public struct TokenBlacklist: Sendable {
    package let storage: any BlacklistStorage

    package init(storage: any BlacklistStorage) { self.storage = storage }

    /// The number of entries.
    public var count: Int { storage.count }

    /// The entry that forbids sending to `token`, or nil.
    ///
    /// - Parameter registeredAt: when the app last registered the token, if that is known. A registration that is
    ///   strictly newer than an entry lifts it.
    public func isBlacklisted(
        _ token: DeviceToken, registeredAt: WallTime? = nil
    ) throws(JournalError) -> BlacklistEntry? {
        guard storage.count > 0, let entry = try storage.entry(for: token) else { return nil }
        return Self.holds(entry, registeredAt: registeredAt) ? entry : nil
    }

    /// Adds or replaces entries, durably on return.
    public func add(_ entries: [BlacklistEntry]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            storage.add(entries) { result in continuation.resume(with: result.mapError { $0 as any Error }) }
        }
    }

    /// Removes entries, durably on return.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func remove(_ tokens: [DeviceToken]) throws(JournalError) -> Int { try storage.remove(tokens) }

    /// Entries in the order of their tokens, at most `limit`, from the first above `after`.
    public func entries(after: DeviceToken? = nil, limit: Int = 1000) throws(JournalError) -> [BlacklistEntry] {
        try storage.list(after: after, limit: limit)
    }

    /// Whether an entry forbids sending, given when the token was registered.
    static func holds(_ entry: BlacklistEntry, registeredAt: WallTime?) -> Bool {
        guard let registeredAt else { return true }
        return registeredAt <= entry.since
    }
}
