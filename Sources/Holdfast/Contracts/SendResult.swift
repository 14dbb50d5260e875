/// What became of one attempt to send one notification.
public struct SendResult: Hashable, Sendable {
    /// What it means for the entry, its token and its lane.
    public enum Verdict: Hashable, Sendable {
        /// Taken by the service. (Not "delivered": nobody says that.)
        case confirmed
        /// Refused for good.
        case rejected(Fault)
        /// Not now: again after a while, and an attempt is counted.
        case deferred(Backoff)
        /// Provably not processed for a reason that is not the notification's: again, and nothing is counted.
        case neverProcessed(Remedy)
        /// Nothing can be sent on the lane until somebody mends it. The entry stays as it was.
        case laneStopped(StopCause)
        /// Not the push service's answer: something else stands at the other end, or in between. Nothing is settled by it; the
        /// route stops when such answers go on. An entry so answered with a status of success may have been taken.
        case foreign
        /// Possibly taken, possibly not.
        case unknown
    }

    /// What was wrong with a notification that was refused for good.
    public enum Fault: Hashable, Sendable {
        /// The notification itself. Its token is as good as before.
        case notification
        /// The token is not valid any more: it is blacklisted.
        case token
        /// The token may be bad, or the environment or the topic may be wrong: never blacklisted on one word.
        case suspectToken
        /// The request was not built as the service wants it: a fault of ours.
        case request
    }

    /// What has to back off.
    public enum Backoff: Hashable, Sendable {
        /// This token alone.
        case token
        /// The whole service.
        case service
        /// The connection's credentials: no new provider token is to be made for 20 minutes.
        case credentials
    }

    /// What to do before an entry that was never processed goes again.
    public enum Remedy: Hashable, Sendable {
        case none
        case newConnection
        case newProviderToken
    }

    public enum StopCause: Hashable, Sendable {
        case credentials
        case topic
    }

    public var verdict: Verdict
    /// The HTTP status, where there was one.
    public var status: Int?
    /// The service's own word, or ours for what never reached it.
    public var reason: Reason?
    /// With 410: since when the token is not valid.
    public var timestamp: WallTime?
    /// From the answer's Retry-After.
    public var retryAfter: Duration?
    /// Whether the service may have taken the notification although the verdict is ``Verdict/deferred(_:)``: a proxy said
    /// "not now", and nobody knows what it had passed on by then. A notification with one attempt becomes *unknown*; any other
    /// goes again as a possible duplicate.
    public var mayHaveBeenTaken = false
    /// For people: what happened, where there was no answer.
    public var detail: String?
    /// The answer's `apns-unique-id`, under which Apple's console knows the notification; the development environment alone
    /// gives one. It is logged, and told as ``EngineEvent/identified(route:_:uniqueID:)``.
    public var uniqueID: String?

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

    /// Provably never sent: it goes again.
    public static func notSent(_ detail: String) -> SendResult { SendResult(.neverProcessed(.none), detail: detail) }

    /// Possibly sent: by the notification's guarantee it goes again or not.
    public static func unknown(_ detail: String) -> SendResult { SendResult(.unknown, detail: detail) }
}
