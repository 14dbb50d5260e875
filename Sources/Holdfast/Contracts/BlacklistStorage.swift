/// The durable storage of the token blacklist. Knows no rules: see ``TokenBlacklist`` for those.
///
/// A token has one entry for each ``BlacklistScope``, and at most ``greatestScopeCount`` of them.
public protocol BlacklistStorage: AnyObject, Sendable {
    /// The number of tokens that have entries, from memory: an empty blacklist costs nothing.
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

    /// The entries of a token, at whatever age, in the order of their scopes.
    func entries(for token: DeviceToken) throws(JournalError) -> [BlacklistEntry]

    /// Looks up the tokens of a batch in one transaction. One damaged record is no failure: it is named in the result.
    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup

    /// Adds entries in one commit, giving each its ``BlacklistEntry/number``, in their order. Where the token has one of the
    /// same scope already, the later ``BlacklistEntry/since`` stays; of two equal ones, the one that is there, with the
    /// number that it has. At ``greatestScopeCount`` an older one gives way: see ``TokenEntries``.
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

    /// Entries in the order of their tokens' bytes and then of their scopes, from the first token above `after`. The
    /// entries of one token come together: there may be more than `limit`, by less than ``greatestScopeCount``. Fewer are
    /// the last. Entries whose records cannot be read are left out.
    func list(after: DeviceToken?, limit: Int) throws(JournalError) -> [BlacklistEntry]
}

extension BlacklistStorage {
    public var damageCount: Int { 0 }
    public func observeDamage(_ observer: @escaping @Sendable (_ count: Int) -> Void) {}

    /// The most entries of one token.
    public static var greatestScopeCount: Int { TokenEntries.greatestCount }

    /// Removes all entries of tokens, durably on return.
    ///
    /// - Returns: how many there were.
    public func remove(_ tokens: [DeviceToken]) throws(JournalError) -> Int {
        try remove(tokens.map { BlacklistKey($0) })
    }
}

/// What the blacklist has of the tokens of a batch.
public struct BlacklistLookup: Sendable {
    /// Indices ascend. An item comes once for each entry of its token, whatever its scope, in their order.
    public var entries: [(index: Int, entry: BlacklistEntry)]
    /// Items whose token has a record that cannot be read: nobody knows for which topics it holds. Indices ascend.
    public var unreadable: [(index: Int, fault: RecordFault)]

    public init(
        entries: [(index: Int, entry: BlacklistEntry)] = [], unreadable: [(index: Int, fault: RecordFault)] = []
    ) {
        self.entries = entries
        self.unreadable = unreadable
    }
}

/// The notifications to a token for which an entry of the blacklist holds.
public struct BlacklistScope: Hashable, Sendable {
    /// Nil holds for every topic.
    public var topic: String?
    /// The push service, as ``Connector/serviceIdentity`` names it. Nil holds for every one.
    public var endpoint: String?

    public init(topic: String? = nil, endpoint: String? = nil) {
        self.topic = topic
        self.endpoint = endpoint
    }

    /// Whether an entry of this scope holds for notifications of a topic to a service.
    ///
    /// - Parameters:
    ///   - topic: nil asks for any.
    ///   - endpoint: nil asks for any.
    public func covers(topic: String?, endpoint: String?) -> Bool {
        (self.topic == nil || topic == nil || self.topic == topic)
            && (self.endpoint == nil || endpoint == nil || Self.isSame(self.endpoint, endpoint))
    }

    /// Whether two names mean one push service: URLs that differ in the case of their letters alone do.
    static func isSame(_ one: String?, _ other: String?) -> Bool {
        if one == other { return true }
        guard let one, let other, one.utf8.count == other.utf8.count, one.contains("://") else { return false }
        return one.lowercased() == other.lowercased()
    }
}

extension BlacklistScope: Comparable {
    public static func < (lhs: BlacklistScope, rhs: BlacklistScope) -> Bool {
        if lhs.topic != rhs.topic { return precedes(lhs.topic, rhs.topic) }
        return precedes(lhs.endpoint, rhs.endpoint)
    }

    private static func precedes(_ lhs: String?, _ rhs: String?) -> Bool {
        guard let rhs else { return false }
        guard let lhs else { return true }
        return lhs.utf8.lexicographicallyPrecedes(rhs.utf8)
    }
}

/// Names an entry of the blacklist, or all entries of a token.
public struct BlacklistKey: Hashable, Sendable {
    public var token: DeviceToken
    /// Nil names all entries of the token.
    public var scope: BlacklistScope?

    public init(_ token: DeviceToken, _ scope: BlacklistScope? = nil) {
        self.token = token
        self.scope = scope
    }
}

/// The registration of a token by an app: what is older on the blacklist does not hold any more.
public struct TokenRegistration: Hashable, Sendable {
    public var token: DeviceToken
    public var topic: String
    public var endpoint: String
    public var registeredAt: WallTime

    public init(token: DeviceToken, topic: String, endpoint: String, registeredAt: WallTime) {
        self.token = token
        self.topic = topic
        self.endpoint = endpoint
        self.registeredAt = registeredAt
    }
}

/// Why a token is not to be sent to, and by which notifications.
public struct BlacklistEntry: Hashable, Sendable {
    public var token: DeviceToken
    public var reason: Reason
    /// Since when, by the service's own timestamp; when it gave none, when the notification was sent.
    public var since: WallTime
    public var learntAt: WallTime
    /// The route on which it was learnt.
    public var route: String
    /// The topic that it holds for. Nil holds for every topic: an operator or a feedback service named none, or it comes
    /// from a journal of an older format.
    public var topic: String?
    /// The push service that it holds for, as ``Connector/serviceIdentity`` names it. Nil holds for every one: an operator
    /// named none, or it comes from a journal of an older format.
    public var endpoint: String?
    /// The status of the answer by which it was learnt, as in ``SendResult/status``; nil when it was learnt otherwise.
    public var status: Int?
    /// The notification whose answer it was, by its UID in this journal; nil when it was learnt otherwise. A crash between
    /// the blacklisting and the settlement leaves that notification unconfirmed, and this tells what became of it.
    public var answered: UID?
    /// Which addition to this journal's blacklist it is, from 1 on, given by the storage when it is added, in the same
    /// commit, and never again to another: so that a reader can tell what is new since it last looked. An entry that is
    /// replaced by one with a later ``since`` has a new one. 0 for one that was not added yet, or by an older format.
    public var number: UInt64

    public init(
        token: DeviceToken, reason: Reason, since: WallTime, learntAt: WallTime, route: String, topic: String? = nil,
        endpoint: String? = nil, status: Int? = nil, answered: UID? = nil, number: UInt64 = 0
    ) {
        self.token = token
        self.reason = reason
        self.since = since
        self.learntAt = learntAt
        self.route = route
        self.topic = topic
        self.endpoint = endpoint
        self.status = status
        self.answered = answered
        self.number = number
    }

    /// The notifications to the token for which it holds.
    public var scope: BlacklistScope { BlacklistScope(topic: topic, endpoint: endpoint) }

    /// By what it is removed.
    public var key: BlacklistKey { BlacklistKey(token, scope) }
}
