public import Holdfast

/// One entry of a journal, as an inspector sees it.
public struct JournalEntry: Sendable {
    /// Where an entry stands.
    public enum State: Hashable, Sendable {
        /// Unconfirmed, above its lane's send mark: certainly not sent.
        case neverSent
        /// Unconfirmed, at or below its lane's send mark: were the owner to crash now, it would be possibly sent. In a
        /// living owner much of this is still waiting, since the mark runs ahead.
        case possiblySent
        /// Refused for now, or never processed: goes again when it is due.
        case deferred(until: WallTime)
        /// Confirmed by silence, and kept aside since then in case a late error denies it.
        case aside(since: WallTime)
        /// Refused for good.
        case rejected(RejectionCause)

        public var kind: StateKind {
            switch self {
            case .neverSent: .neverSent
            case .possiblySent: .possiblySent
            case .deferred: .deferred
            case .aside: .aside
            case .rejected: .rejected
            }
        }
    }

    /// ``State`` without its particulars, to choose by.
    public enum StateKind: String, Hashable, Sendable, CaseIterable {
        case neverSent, possiblySent, deferred, aside, rejected

        /// All but ``aside``: of an entry that waits for nothing and nobody can retry, a listing says nothing unless asked.
        public static let usual: Set<StateKind> = [.neverSent, .possiblySent, .deferred, .rejected]
    }

    public let uid: UID
    public let lane: LaneKey
    /// Under whose name it was submitted.
    public let producer: String
    public let state: State
    /// Whether an attempt of it may have reached the service, as ``State/possiblySent`` says of those that wait; of
    /// others, because an earlier attempt had no answer. With a rejection that tells nothing of the attempt that was
    /// rejected.
    public let isPossiblySent: Bool
    /// How often it was answered "not now".
    public let attempts: Int
    public let acceptedAt: WallTime
    /// Why it was last answered "not now".
    public let lastReason: Reason?
    /// The rejection that an operator sent again as this entry.
    public let retryOf: UID?
    /// With the id and the expiration it was given on acceptance.
    public let notification: PushNotification

    package init(
        uid: UID, lane: LaneKey, producer: String, state: State, isPossiblySent: Bool, attempts: Int,
        acceptedAt: WallTime, lastReason: Reason?, retryOf: UID?, notification: PushNotification
    ) {
        self.uid = uid
        self.lane = lane
        self.producer = producer
        self.state = state
        self.isPossiblySent = isPossiblySent
        self.attempts = attempts
        self.acceptedAt = acceptedAt
        self.lastReason = lastReason
        self.retryOf = retryOf
        self.notification = notification
    }
}
