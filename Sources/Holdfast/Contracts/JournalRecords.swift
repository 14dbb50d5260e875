/// What the journal keeps beside unconfirmed entries: Producers, outcomes, rejections.

/// The number of a Producer within its journal, given when its name is first opened.
public struct ProducerID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The most Producers a journal tells apart.
    public static let greatestCount = 1000

    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
    @inlinable public static func < (lhs: ProducerID, rhs: ProducerID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// One Producer's notifications in figures, kept in the same commits as what they count.
public struct ProducerStatus: Hashable, Sendable {
    package let id: ProducerID
    public let name: String
    /// Accepted and without a terminal outcome.
    public let unconfirmed: Int
    /// Since the journal was made.
    public let totals: JournalTotals

    package init(id: ProducerID, name: String, unconfirmed: Int, totals: JournalTotals) {
        self.id = id
        self.name = name
        self.unconfirmed = unconfirmed
        self.totals = totals
    }
}

/// The end of one notification, for the application that submitted it.
public struct Outcome: Hashable, Sendable {
    public let uid: UID
    public let terminal: TerminalOutcome
    /// With ``TerminalOutcome/rejected(_:)``: the details.
    public let cause: RejectionCause?
    public let settledAt: WallTime
    /// The apns-id that every attempt carried.
    public let id: NotificationID
    public let recipient: Recipient
    /// Who submitted it.
    public let producer: String
    /// The application's own bytes, as it submitted them.
    public let tag: [UInt8]

    public init(
        uid: UID, terminal: TerminalOutcome, cause: RejectionCause?, settledAt: WallTime, id: NotificationID,
        recipient: Recipient, producer: String, tag: [UInt8]
    ) {
        self.uid = uid
        self.terminal = terminal
        self.cause = cause
        self.settledAt = settledAt
        self.id = id
        self.recipient = recipient
        self.producer = producer
        self.tag = tag
    }

    /// Whose device it was for; nil for a broadcast, and for other services than Apple's.
    public var token: DeviceToken? { recipient.token }
}

/// A notification that was refused for good, kept with all that is needed to understand it or to submit it again.
/// Operators call it a dead letter.
public struct Rejection: Hashable, Sendable {
    public let uid: UID
    public let cause: RejectionCause
    /// How often it was answered "not now", or with nothing known, before.
    public let attempts: Int
    public let producer: String
    /// The lane in which it was; nil when nobody knows that number any more.
    public let lane: LaneKey?
    /// With the id and the expiration it was given on acceptance.
    public let notification: PushNotification

    package init(
        uid: UID, cause: RejectionCause, attempts: Int, producer: String, lane: LaneKey?, notification: PushNotification
    ) {
        self.uid = uid
        self.lane = lane
        self.cause = cause
        self.attempts = attempts
        self.producer = producer
        self.notification = notification
    }
}

/// Where one entry stands, as far as the journal still knows.
public enum EntryFate: Hashable, Sendable {
    /// Waiting or in flight. `possiblySent`: a crash now would leave it so.
    case unconfirmed(LaneKey, attempts: Int, possiblySent: Bool)
    /// Goes again when it is due.
    case deferred(LaneKey, until: WallTime, attempts: Int, reason: Reason)
    /// Confirmed by silence, and kept aside since then: a late error may still deny it.
    case aside(LaneKey, since: WallTime)
    /// Over.
    case settled(TerminalOutcome)
    /// Its record cannot be read: it was moved aside, and is kept.
    case quarantined(LaneKey, possiblySent: Bool)

    /// Where it waits; nil when it is kept aside or over.
    package var lane: LaneKey? {
        switch self {
        case .unconfirmed(let lane, attempts: _, possiblySent: _),
            .deferred(let lane, until: _, attempts: _, reason: _), .quarantined(let lane, possiblySent: _):
            lane
        case .aside, .settled: nil
        }
    }
}

/// What to delete. Nil leaves that kind alone.
public struct TrimBounds: Hashable, Sendable {
    /// Rejections that are older go.
    package var rejectionsBefore: WallTime?
    /// The most rejections; the oldest UIDs go first.
    package var greatestRejections: Int?
    /// Remembered identities of notifications that were accepted earlier go.
    package var identitiesBefore: WallTime?
    /// The most remembered identities; the oldest go first.
    package var greatestIdentities: Int?
    /// Entries that were put aside earlier are confirmed: no late error can deny them any more.
    package var asideBefore: WallTime?
    /// The same of those that were put aside later, by a clock that was ahead.
    package var asideAfter: WallTime?
    /// The most entries that are kept aside; the oldest are confirmed first.
    package var greatestAside: Int?

    package init(
        rejectionsBefore: WallTime? = nil, greatestRejections: Int? = nil, identitiesBefore: WallTime? = nil,
        greatestIdentities: Int? = nil, asideBefore: WallTime? = nil, asideAfter: WallTime? = nil,
        greatestAside: Int? = nil
    ) {
        self.asideBefore = asideBefore
        self.asideAfter = asideAfter
        self.greatestAside = greatestAside
        self.rejectionsBefore = rejectionsBefore
        self.greatestRejections = greatestRejections
        self.identitiesBefore = identitiesBefore
        self.greatestIdentities = greatestIdentities
    }
}

/// What a trim deleted or confirmed.
public struct Trimmed: Hashable, Sendable {
    package var rejections: Int
    package var identities: Int
    /// Entries kept aside that were confirmed.
    package var aside: Int

    package init(rejections: Int = 0, identities: Int = 0, aside: Int = 0) {
        self.aside = aside
        self.rejections = rejections
        self.identities = identities
    }
}
