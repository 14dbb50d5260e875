// Records of the journal beside unconfirmed entries: Producers, outcomes, rejections.

/// The number of a Producer within its journal, assigned when its name is first opened.
public struct ProducerID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The most Producers of one journal.
    public static let greatestCount = 1000

    /// The number in the journal's records.
    public let rawValue: UInt16
    /// Creates the number of a Producer, as read from a record.
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Orders by number, which is the order of registration.
    @inlinable public static func < (lhs: ProducerID, rhs: ProducerID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The counts of one Producer's notifications, committed together with the notifications.
public struct ProducerStatus: Hashable, Sendable {
    package let id: ProducerID
    /// The Producer's name; 1 to 64 bytes of UTF-8.
    public let name: String
    /// Accepted notifications without a terminal outcome.
    public let unconfirmed: Int
    /// Totals since the journal was made.
    public let totals: JournalTotals

    package init(id: ProducerID, name: String, unconfirmed: Int, totals: JournalTotals) {
        self.id = id
        self.name = name
        self.unconfirmed = unconfirmed
        self.totals = totals
    }
}

/// A notification that was refused for good, kept whole so that it can be understood or sent again: a dead letter.
public struct Rejection: Hashable, Sendable {
    /// The UID of the notification, as its receipt gave it.
    public let uid: UID
    /// The reason, the service's status, and the time of the rejection.
    public let cause: RejectionCause
    /// Earlier attempts that were answered "not now", or whose result is unknown.
    public let attempts: Int
    /// The name of the Producer that submitted it.
    public let producer: String
    /// When it was accepted.
    public let acceptedAt: WallTime
    /// Its lane; `nil` if the journal does not know the lane's number any more.
    public let lane: LaneKey?
    /// The notification, with the id and the expiration assigned at acceptance.
    public let notification: PushNotification

    package init(
        uid: UID, cause: RejectionCause, attempts: Int, producer: String, acceptedAt: WallTime, lane: LaneKey?,
        notification: PushNotification
    ) {
        self.uid = uid
        self.acceptedAt = acceptedAt
        self.lane = lane
        self.cause = cause
        self.attempts = attempts
        self.producer = producer
        self.notification = notification
    }
}

/// The state of one entry, as far as the journal still knows. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum EntryFate: Hashable, Sendable {
    /// Waiting or in flight. `possiblySent`: an attempt may have reached the service, so that after a crash its guarantee
    /// decides whether it is sent again.
    case unconfirmed(LaneKey, attempts: Int, possiblySent: Bool)
    /// Waits until it is due, and is then sent again.
    case deferred(LaneKey, until: WallTime, attempts: Int, reason: Reason)
    /// Waits for the time from which it may be delivered.
    case scheduled(LaneKey, for: WallTime, attempts: Int)
    /// Confirmed by silence, and kept for a while because a late error may still revoke that.
    case aside(LaneKey, since: WallTime)
    /// Has its terminal outcome.
    case settled(TerminalOutcome)
    /// In quarantine, because its record cannot be read.
    case quarantined(LaneKey, possiblySent: Bool)

    /// The lane in which it waits; `nil` if it is kept aside or settled.
    package var lane: LaneKey? {
        switch self {
        case .unconfirmed(let lane, attempts: _, possiblySent: _),
            .deferred(let lane, until: _, attempts: _, reason: _), .scheduled(let lane, for: _, attempts: _),
            .quarantined(let lane, possiblySent: _):
            lane
        case .aside, .settled: nil
        }
    }
}

/// The limits of `trim`. `nil` sets no limit. Opaque outside of this package.
public struct TrimBounds: Hashable, Sendable {
    /// Older rejections are deleted.
    package var rejectionsBefore: WallTime?
    /// The most rejections; the lowest UIDs are deleted first.
    package var greatestRejections: Int?
    /// Identities of notifications accepted earlier are deleted.
    package var identitiesBefore: WallTime?
    /// The most identities; the oldest are deleted first.
    package var greatestIdentities: Int?
    /// Entries kept aside since before this are confirmed: no late error can revoke them any more.
    package var asideBefore: WallTime?
    /// Entries kept aside since after this, by a clock that was ahead, are confirmed too.
    package var asideAfter: WallTime?
    /// The most entries kept aside; the oldest are confirmed first.
    package var greatestAside: Int?
    /// Outcomes settled earlier are deleted from the log, the oldest first, up to the first one that is not, and up to the
    /// first one that a reader is waited for.
    package var outcomesBefore: WallTime?
    /// The most bytes of the log and its index; the oldest outcomes are deleted first, up to the first one that a reader is
    /// waited for.
    package var greatestOutcomeBytes: Int?
    /// The time that the journal is to store as its last one: see ``Submission/earliestTime``.
    package var earliestTime: WallTime?

    package init(
        rejectionsBefore: WallTime? = nil, greatestRejections: Int? = nil, identitiesBefore: WallTime? = nil,
        greatestIdentities: Int? = nil, asideBefore: WallTime? = nil, asideAfter: WallTime? = nil,
        greatestAside: Int? = nil, outcomesBefore: WallTime? = nil, greatestOutcomeBytes: Int? = nil,
        earliestTime: WallTime? = nil
    ) {
        self.earliestTime = earliestTime
        self.outcomesBefore = outcomesBefore
        self.greatestOutcomeBytes = greatestOutcomeBytes
        self.asideBefore = asideBefore
        self.asideAfter = asideAfter
        self.greatestAside = greatestAside
        self.rejectionsBefore = rejectionsBefore
        self.greatestRejections = greatestRejections
        self.identitiesBefore = identitiesBefore
        self.greatestIdentities = greatestIdentities
    }
}

/// The counts of one trim. Opaque outside of this package.
public struct Trimmed: Hashable, Sendable {
    package var rejections: Int
    package var identities: Int
    /// Entries kept aside that were confirmed.
    package var aside: Int
    /// Outcomes deleted from the log.
    package var outcomes: Int

    package init(rejections: Int = 0, identities: Int = 0, aside: Int = 0, outcomes: Int = 0) {
        self.aside = aside
        self.outcomes = outcomes
        self.rejections = rejections
        self.identities = identities
    }
}
