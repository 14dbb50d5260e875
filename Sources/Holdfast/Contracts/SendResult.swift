/// The result of one attempt to send one notification.
public struct SendResult: Hashable, Sendable {
    /// The consequence for the entry, its token and its lane. No case is added: the engine has fixed rules for each.
    public enum Verdict: Hashable, Sendable {
        /// The service took it. (It does not say whether it was delivered.)
        case confirmed
        /// Refused for good.
        case rejected(Fault)
        /// Not now: the entry is sent again after a backoff, and an attempt is counted.
        case deferred(Backoff)
        /// Provably not processed, for a reason other than the notification: it is sent again, and no attempt is counted.
        case neverProcessed(Remedy)
        /// Nothing can be sent on the lane until somebody fixes the cause. The entry is unchanged.
        case laneStopped(StopCause)
        /// Not the push service's answer: another server is at the other end, or in between. It settles nothing, and the route
        /// stops if such answers go on. With a success status, the entry may have been taken.
        case foreign
        /// The service may or may not have taken the notification.
        case unknown
    }

    /// The fault for which a notification was refused for good. No case is added: the engine has a rule for each.
    public enum Fault: Hashable, Sendable {
        /// The notification itself. Its token is not blamed.
        case notification
        /// The token is not valid any more, and is blacklisted.
        case token
        /// The token may be bad, or the environment or the topic may be wrong. One such answer never blacklists a token.
        case suspectToken
        /// The request was not built as the service wants it: a fault of the connector.
        case request
    }

    /// The scope of a backoff. No case is added: the engine has a rule for each.
    public enum Backoff: Hashable, Sendable {
        /// This token alone.
        case token
        /// The whole service.
        case service
        /// The connection's credentials: no new provider token is made for ``EngineConfiguration/park``, 20 minutes by default.
        case credentials
    }

    /// The step before an entry that was never processed is sent again. No case is added: the engine has a rule for each.
    public enum Remedy: Hashable, Sendable {
        /// Nothing: the same connection will do.
        case none
        /// Connect anew; this connection takes nothing more.
        case newConnection
        /// Make a new provider token.
        case newProviderToken
    }

    /// The cause for which a lane stops. No case is added: the engine has a rule for each.
    public enum StopCause: Hashable, Sendable {
        /// The service refuses the credentials; all lanes of the route are concerned.
        case credentials
        /// The service refuses the topic for these credentials; other topics are not concerned.
        case topic
    }

    /// The consequence for the entry, its token and its lane.
    public var verdict: Verdict
    /// The HTTP status, where there was one.
    public var status: Int?
    /// The service's reason, or one of Holdfast's own for a notification that never reached it.
    public var reason: Reason?
    /// With status 410: the time since which the token is not valid.
    public var timestamp: WallTime?
    /// The wait that the answer's `Retry-After` asks for.
    public var retryAfter: Duration?
    /// Whether the service may have taken the notification although the verdict is ``Verdict/deferred(_:)``, because a proxy
    /// answered after it may have passed the request on. An at-most-once notification becomes *unknown*; any other is sent
    /// again as a possible duplicate. Default: false.
    public var mayHaveBeenTaken = false
    /// A message for operators about a failure without an answer.
    public var detail: String?
    /// The answer's `apns-unique-id`, which identifies the notification in Apple's console. Only the development environment
    /// returns one. It is logged, and reported as ``EngineEvent/identified(route:_:uniqueID:)``.
    public var uniqueID: String?

    /// Creates a result. See ``init(apnsStatus:reason:timestamp:retryAfter:)`` for an answer of Apple's.
    public init(
        _ verdict: Verdict, status: Int? = nil, reason: Reason? = nil, timestamp: WallTime? = nil,
        retryAfter: Duration? = nil, detail: String? = nil, uniqueID: String? = nil
    ) {
        self.uniqueID = uniqueID
        self.verdict = verdict
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
        self.detail = detail
    }

    /// Taken by the service.
    public static let confirmed = SendResult(.confirmed)

    /// The notification was provably never sent: it is sent again, and no attempt is counted.
    public static func notSent(_ detail: String) -> SendResult { SendResult(.neverProcessed(.none), detail: detail) }

    /// The notification was possibly sent: its guarantee decides whether it is sent again.
    public static func unknown(_ detail: String) -> SendResult { SendResult(.unknown, detail: detail) }
}
