package import Holdfast

/// One entry of a journal, as an inspector sees it.
package struct JournalEntry: Sendable {
    /// Where an entry stands.
    package enum State: Hashable, Sendable {
        /// Unconfirmed, above its lane's send mark: certainly not sent.
        case neverSent
        /// Unconfirmed, at or below its lane's send mark: were the owner to crash now, it would be possibly sent. In a
        /// living owner much of this is still waiting, since the mark runs ahead.
        case possiblySent
        /// Refused for now, or never processed: goes again when it is due.
        case deferred(until: WallTime)
        /// Waits for the time from which it may be delivered.
        case scheduled(for: WallTime)
        /// Confirmed by silence, and kept aside since then in case a late error denies it.
        case aside(since: WallTime)
        /// Refused for good.
        case rejected(RejectionCause)

        package var kind: StateKind {
            switch self {
            case .neverSent: .neverSent
            case .possiblySent: .possiblySent
            case .deferred: .deferred
            case .scheduled: .scheduled
            case .aside: .aside
            case .rejected: .rejected
            }
        }
    }

    /// ``State`` without its particulars, to choose by.
    package enum StateKind: String, Hashable, Sendable, CaseIterable {
        case neverSent, possiblySent, deferred, scheduled, aside, rejected

        /// All states but ``aside``: such an entry waits for nothing and cannot be retried, so it is listed only on request.
        package static let usual: Set<StateKind> = [.neverSent, .possiblySent, .deferred, .scheduled, .rejected]
    }

    package let uid: UID
    package let lane: LaneKey
    /// Under whose name it was submitted.
    package let producer: String
    package let state: State
    /// Whether an attempt of it may have reached the service, as ``State/possiblySent`` says of those that wait; of
    /// others, because an earlier attempt had no answer. With a rejection that tells nothing of the attempt that was
    /// rejected.
    package let isPossiblySent: Bool
    /// The number of times it was answered "not now".
    package let attempts: Int
    package let acceptedAt: WallTime
    /// The reason of the last "not now".
    package let lastReason: Reason?
    /// The rejection that an operator sent again as this entry.
    package let retryOf: UID?
    /// With the id and the expiration it was given on acceptance.
    package let notification: PushNotification

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
