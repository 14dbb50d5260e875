/// Why a recipient is not to be sent to, and by which notifications.
public struct BlacklistEntry: Hashable, Sendable {
    /// A device's token, or an address of another service than Apple's that names a device.
    public var recipient: Recipient
    /// Why the recipient is blacklisted: the service's reason, or an operator's or feedback service's.
    public var reason: Reason
    /// Since when, by the service's own timestamp; when it gave none, when the notification was sent.
    public var since: WallTime
    /// When the entry was made, by this machine's wall clock.
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
    /// From when on it holds no more. Nil, which is all there is of device tokens: it holds until a newer registration.
    public var expiresAt: WallTime?

    /// Of a device token.
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

    /// The device whose entry it is; nil of an address at another service than Apple's.
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

    /// The notifications to the recipient for which it holds.
    public var scope: BlacklistScope { BlacklistScope(topic: topic, endpoint: endpoint) }

    /// By what it is removed.
    public var key: BlacklistKey { BlacklistKey(recipient, scope) }
}

/// The notifications to a recipient for which an entry of the blacklist holds.
public struct BlacklistScope: Hashable, Sendable {
    /// Nil holds for every topic.
    public var topic: String?
    /// The push service, as ``Connector/serviceIdentity`` names it. Nil holds for every one.
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
    /// Nil names all entries of the recipient.
    public var scope: BlacklistScope?

    /// Names the entry of one scope, or with `nil` all entries of the recipient.
    public init(_ recipient: Recipient, _ scope: BlacklistScope? = nil) {
        self.recipient = recipient
        self.scope = scope
    }
}
