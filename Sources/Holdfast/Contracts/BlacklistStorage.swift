/// The durable storage of the token blacklist. Knows no rules: see ``TokenBlacklist`` for those.
public protocol BlacklistStorage: AnyObject, Sendable {
    /// The number of entries, from memory: an empty blacklist costs nothing.
    var count: Int { get }

    /// The greatest ``BlacklistEntry/number`` that was ever given, removed entries included; 0 when none was. From memory,
    /// and durable: what was added before this was read has no greater one, whatever is added later has.
    var lastNumber: UInt64 { get }

    /// The entry of a token, at whatever age; nil when there is none.
    func entry(for token: DeviceToken) throws(JournalError) -> BlacklistEntry?

    /// The entries of those items whose token has one, by index, looked up in one transaction.
    func entries(for batch: EntryBatch) throws(JournalError) -> [(index: Int, entry: BlacklistEntry)]

    /// Adds entries in one commit, giving each its ``BlacklistEntry/number``, in their order. Where a token has one already,
    /// the later ``BlacklistEntry/since`` stays; of two equal ones, the one that is there, with the number that it has.
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
    /// The topic of the notification by which it was learnt; 1 to 255 bytes of UTF-8. Nil where nobody knows: an operator's
    /// entry, one from a feedback service, one of a journal of an older format.
    public var topic: String?
    /// Which addition to this journal's blacklist it is, from 1 on, given by the storage when it is added, in the same
    /// commit, and never again to another: so that a reader can tell what is new since it last looked. An entry that is
    /// replaced by one with a later ``since`` has a new one. 0 for one that was not added yet, or by an older format.
    public var number: UInt64

    public init(
        token: DeviceToken, reason: Reason, since: WallTime, learntAt: WallTime, route: String, topic: String? = nil,
        number: UInt64 = 0
    ) {
        self.token = token
        self.reason = reason
        self.since = since
        self.learntAt = learntAt
        self.route = route
        self.topic = topic
        self.number = number
    }
}
