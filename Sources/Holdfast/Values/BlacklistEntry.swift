/// An entry of the blacklist: a recipient that is not sent to, why, and which notifications it covers.
public struct BlacklistEntry: Hashable, Sendable {
    /// A device token, or a device's address at a service other than Apple's.
    public var recipient: Recipient
    /// Why the recipient is blacklisted: the service's reason, or an operator's or feedback service's.
    public var reason: Reason
    /// The time since which the recipient is invalid: the service's timestamp, or if it gave none, the time of sending.
    public var since: WallTime
    /// When the entry was made, by this machine's wall clock.
    public var learntAt: WallTime
    /// The name of the route whose answer, or whose feedback, it came from.
    public var route: String
    /// The topic that it covers. `nil` covers every topic: an operator or a feedback service named none, or the entry comes
    /// from a journal of an older format.
    public var topic: String?
    /// The push service that it covers, by its ``Connector/serviceIdentity``. `nil` covers every service: an operator named
    /// none, or the entry comes from a journal of an older format.
    public var endpoint: String?
    /// The status of the answer that it came from, as in ``SendResult/status``; `nil` if it came from elsewhere.
    public var status: Int?
    /// The UID of the notification whose answer it came from; `nil` if it came from elsewhere. A crash between the blacklisting
    /// and the settlement leaves that notification unconfirmed, and this tells its outcome.
    public var answered: UID?
    /// The sequence number of the addition in this journal, from 1 on, so that a reader can tell what is new. Assigned by the
    /// storage in the same commit, and never reused. An entry that replaces another has a new number. 0 if it was not added
    /// yet, or by an older format.
    public var number: UInt64
    /// When the entry ends. `nil`, as always for device tokens: it is valid until a newer registration.
    public var expiresAt: WallTime?

    /// Creates an entry for a device token.
    public init(
        token: DeviceToken, reason: Reason, since: WallTime, learntAt: WallTime, route: String, topic: String? = nil,
        endpoint: String? = nil, status: Int? = nil, answered: UID? = nil, number: UInt64 = 0
    ) {
        self.init(
            recipient: .device(token), reason: reason, since: since, learntAt: learntAt, route: route, topic: topic,
            endpoint: endpoint, status: status, answered: answered, number: number)
    }

    /// Creates an entry for a device token or for another service's address.
    public init(
        recipient: Recipient, reason: Reason, since: WallTime, learntAt: WallTime, route: String, topic: String? = nil,
        endpoint: String? = nil, status: Int? = nil, answered: UID? = nil, number: UInt64 = 0,
        expiresAt: WallTime? = nil
    ) {
        self.recipient = recipient
        self.reason = reason
        self.since = since
        self.learntAt = learntAt
        self.route = route
        self.topic = topic
        self.endpoint = endpoint
        self.status = status
        self.answered = answered
        self.number = number
        self.expiresAt = expiresAt
    }

    /// The device token; `nil` for an address at a service other than Apple's.
    public var token: DeviceToken? { recipient.token }

    /// Why no storage can keep it; nil where one can.
    package var fault: String? {
        if recipient.isBroadcast { return "only what names a device can be on the blacklist" }
        if expiresAt != nil, token != nil { return "an entry of a device token does not expire" }
        let greatest = Int(UInt16.max)
        // Half a topic is another topic.
        guard (topic?.utf8.count ?? 0) <= greatest, (endpoint?.utf8.count ?? 0) <= greatest else {
            return "a topic or endpoint of the blacklist has at most 65,535 bytes"
        }
        return nil
    }

    /// Whether it forbids nothing any more, as those of some services do after a while.
    package func hasEnded(at now: WallTime) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// The notifications to the recipient that it covers.
    public var scope: BlacklistScope { BlacklistScope(topic: topic, endpoint: endpoint) }

    /// The key by which it is removed.
    public var key: BlacklistKey { BlacklistKey(recipient, scope) }
}

/// The notifications to a recipient that an entry of the blacklist covers.
public struct BlacklistScope: Hashable, Sendable {
    /// The topic; `nil` covers every topic.
    public var topic: String?
    /// The push service, by its ``Connector/serviceIdentity``; `nil` covers every service.
    public var endpoint: String?

    /// Creates a scope. By default it covers every topic and every service.
    public init(topic: String? = nil, endpoint: String? = nil) {
        self.topic = topic
        self.endpoint = endpoint
    }

    /// Whether an entry of this scope holds for notifications of a topic to a service.
    ///
    /// - Parameters:
    ///   - topic: nil asks for any.
    ///   - endpoint: nil asks for any.
    package func covers(topic: String?, endpoint: String?) -> Bool {
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
    /// Orders by topic, then by service; one without either comes first.
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

/// Names an entry of the blacklist, or all entries of a recipient.
public struct BlacklistKey: Hashable, Sendable {
    /// The recipient whose entries are named.
    public var recipient: Recipient
    /// The scope of the entry; `nil` names all entries of the recipient.
    public var scope: BlacklistScope?

    /// Names the entry of one scope, or with `nil` all entries of the recipient.
    public init(_ recipient: Recipient, _ scope: BlacklistScope? = nil) {
        self.recipient = recipient
        self.scope = scope
    }
}
