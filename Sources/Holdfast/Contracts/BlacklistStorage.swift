/// The durable storage of the token blacklist. Knows no rules: see ``TokenBlacklist`` for those.
///
/// A recipient has one entry for each ``BlacklistScope``, and at most ``greatestScopeCount`` of them.
public protocol BlacklistStorage: AnyObject, Sendable {
    /// The number of recipients that have entries, from memory: an empty blacklist costs nothing.
    var count: Int { get }

    /// The greatest ``BlacklistEntry/number`` that was ever given, removed entries included; 0 when none was. From memory,
    /// and durable: what was added before this was read has no greater one, whatever is added later has.
    var lastNumber: UInt64 { get }

    /// Places at which the blacklist was found to be damaged since it was opened, so that a look-up may miss tokens that are
    /// on it. From memory; 0 until it has been looked through.
    var damageCount: Int { get }

    /// Has `observer` told when damage is found, and at once of what was found before. The last observer counts.
    ///
    /// - Parameter observer: is given ``damageCount``, on a thread of the storage's own. Must not block.
    func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void)

    /// The entries of a recipient, at whatever age, in the order of their scopes.
    func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry]

    /// Looks up the recipients of a batch in one transaction. One damaged record is no failure: it is named in the result.
    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup

    /// Adds entries in one commit, giving each its ``BlacklistEntry/number``, in their order. Where the recipient has one of the
    /// same scope already, the later ``BlacklistEntry/since`` stays; of two equal ones, the one that is there, with the
    /// number that it has, unless it expires before the other one. At ``greatestScopeCount`` an older one gives way: see ``TokenEntries``.
    ///
    /// - Parameter completion: on the storage's own thread, when the commit is on disk, or why it is not.
    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Removes the entries that cover a registration and whose ``BlacklistEntry/since`` is before it, in one commit.
    ///
    /// - Parameter completion: on the storage's own thread, when the commit is on disk, or why it is not.
    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Removes entries, durably on return.
    ///
    /// - Returns: how many there were.
    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int

    /// Entries in the order of their tokens' bytes and then of their scopes, from the first token above `after`; behind all
    /// of these, those of other services' addresses, in an order of the storage's own. The entries of one recipient come
    /// together: there may be more than `limit`, by less than ``greatestScopeCount``. Fewer are
    /// the last. Entries whose records cannot be read are left out.
    func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry]
}

extension BlacklistStorage {
    public var damageCount: Int { 0 }
    public func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void) {}

    /// The most entries of one recipient.
    public static var greatestScopeCount: Int { TokenEntries.greatestCount }

    /// Removes all entries of recipients, durably on return.
    ///
    /// - Returns: how many there were.
    public func remove(_ recipients: [Recipient]) throws(JournalError) -> Int {
        try remove(recipients.map { BlacklistKey($0) })
    }
}

/// The blacklist's entries for the recipients of a batch.
public struct BlacklistLookup: Sendable {
    /// Indices ascend. An item comes once for each entry of its recipient, whatever its scope, in their order.
    public var entries: [(index: Int, entry: BlacklistEntry)]
    /// Items whose recipient has a record that cannot be read: nobody knows for which topics it holds. Indices ascend.
    public var unreadable: [(index: Int, fault: RecordFault)]

    public init(
        entries: [(index: Int, entry: BlacklistEntry)] = [], unreadable: [(index: Int, fault: RecordFault)] = []
    ) {
        self.entries = entries
        self.unreadable = unreadable
    }
}

/// The registration of a recipient by an app: what is older on the blacklist does not hold any more.
public struct TokenRegistration: Hashable, Sendable {
    public var recipient: Recipient
    public var topic: String
    public var endpoint: String
    public var registeredAt: WallTime

    public init(recipient: Recipient, topic: String, endpoint: String, registeredAt: WallTime) {
        self.recipient = recipient
        self.topic = topic
        self.endpoint = endpoint
        self.registeredAt = registeredAt
    }
}
