/// The durable storage of the token blacklist. Knows no rules: see ``TokenBlacklist`` for those.
public protocol BlacklistStorage: AnyObject, Sendable {
    /// The number of entries, from memory: an empty blacklist costs nothing.
    var count: Int { get }

    /// The entry of a token, at whatever age; nil when there is none.
    func entry(for token: DeviceToken) throws(JournalError) -> BlacklistEntry?

    /// The entries of those items whose token has one, by index, looked up in one transaction.
    func entries(for batch: EntryBatch) throws(JournalError) -> [(index: Int, entry: BlacklistEntry)]

    /// Adds entries in one commit. Where a token has one already, the later ``BlacklistEntry/since`` stays.
    ///
    /// - Parameter completion: on the storage's own thread, when the commit is on disk, or why it is not.
    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Removes the entries of tokens that were registered after their entry's ``BlacklistEntry/since``, in one commit.
    ///
    /// - Parameter completion: on the storage's own thread, when the commit is on disk, or why it is not.
    func lift(
        _ registrations: [(token: DeviceToken, registeredAt: WallTime)],
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Removes entries, durably on return.
    ///
    /// - Returns: how many there were.
    func remove(_ tokens: [DeviceToken]) throws(JournalError) -> Int

    /// Entries in the order of their tokens' bytes, from the first above `after`.
    func list(after: DeviceToken?, limit: Int) throws(JournalError) -> [BlacklistEntry]
}

/// Why a token is not to be sent to.
public struct BlacklistEntry: Hashable, Sendable {
    public var token: DeviceToken
    public var reason: Reason
    /// Since when, by the service's own timestamp; when it gave none, when the notification was sent.
    public var since: WallTime
    public var learntAt: WallTime
    /// The route on which it was learnt.
    public var route: String

    public init(token: DeviceToken, reason: Reason, since: WallTime, learntAt: WallTime, route: String) {
        self.token = token
        self.reason = reason
        self.since = since
        self.learntAt = learntAt
        self.route = route
    }
}
