/// What the journal knows of a lane when it is opened.
public struct LaneOpening: Hashable, Sendable {
    public let id: LaneID
    /// The send mark as it is when the lane is opened: unconfirmed entries at or below it are possibly sent.
    public let markAtOpen: UID
    /// The greatest UID ever appended to the lane; `.none` for a new one.
    public let lastUID: UID

    public init(id: LaneID, markAtOpen: UID, lastUID: UID) {
        self.id = id
        self.markAtOpen = markAtOpen
        self.lastUID = lastUID
    }
}

/// Notifications to append in one commit, packed by the submitter's thread.
public struct Submission: Sendable {
    public struct Item: Sendable {
        public let lane: LaneID
        let offset: UInt32
        let count: UInt32

        /// Where its packed notification lies in ``Submission/bytes``.
        public var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }

        public init(lane: LaneID, range: Range<Int>) {
            self.lane = lane
            offset = UInt32(range.lowerBound)
            count = UInt32(range.count)
        }
    }

    /// Who submits.
    public var producer: ProducerID
    /// By the wall clock; becomes the journal's ``Journal/wallTimeAtOpen`` for the next opening.
    public var acceptedAt: WallTime
    /// Packed notifications side by side. See ``PackedNotification``.
    public var bytes: [UInt8]
    public var items: [Item]
    /// For those items whose sender chose their apns-id, ascending by index: what a repeat is recognised by.
    public var identities: [(index: Int, identity: Identity)]
    /// A note that becomes durable in the same commit: how far a file was taken, say.
    public var note: (name: String, value: [UInt8])?

    public init(
        producer: ProducerID, acceptedAt: WallTime, bytes: [UInt8] = [], items: [Item] = [],
        identities: [(index: Int, identity: Identity)] = [], note: (name: String, value: [UInt8])? = nil
    ) {
        self.producer = producer
        self.acceptedAt = acceptedAt
        self.bytes = bytes
        self.items = items
        self.identities = identities
        self.note = note
    }
}

/// What an append came to.
public struct Appended: Hashable, Sendable {
    /// An item that the journal had taken before.
    public struct Repeat: Hashable, Sendable {
        /// Of the item in its submission.
        public let index: Int
        /// The UID it was given then.
        public let uid: UID
        /// What became of it; nil while it is unconfirmed.
        public let outcome: TerminalOutcome?

        public init(index: Int, uid: UID, outcome: TerminalOutcome?) {
            self.index = index
            self.uid = uid
            self.outcome = outcome
        }
    }

    /// The UID of the first item that is no repeat; the others follow one by one, in the order of the items.
    public let first: UID
    /// Ascending by index.
    public let repeats: [Repeat]

    public init(first: UID, repeats: [Repeat] = []) {
        self.first = first
        self.repeats = repeats
    }
}

/// Names one entry.
public struct EntryKey: Hashable, Sendable {
    public let lane: LaneID
    public let uid: UID

    public init(lane: LaneID, uid: UID) {
        self.lane = lane
        self.uid = uid
    }
}

/// What the Producer has decided about entries.
public struct SettlementBatch: Sendable {
    /// Taken by the service: deleted.
    public var acknowledged: [EntryKey]
    /// Everything else.
    public var others: [Settlement]
    /// Added to the journal's total of possible duplicates in the same commit.
    public var possibleDuplicates: Int
    /// By the wall clock; goes into outcomes.
    public var settledAt: WallTime
    /// Whether each terminal outcome is kept, in the same commit, until ``Journal/removeOutcomes(_:completion:)``.
    public var keepsOutcomes: Bool

    public init(
        acknowledged: [EntryKey] = [], others: [Settlement] = [], possibleDuplicates: Int = 0,
        settledAt: WallTime = WallTime(milliseconds: 0), keepsOutcomes: Bool = false
    ) {
        self.acknowledged = acknowledged
        self.others = others
        self.possibleDuplicates = possibleDuplicates
        self.settledAt = settledAt
        self.keepsOutcomes = keepsOutcomes
    }

    public var isEmpty: Bool { acknowledged.isEmpty && others.isEmpty && possibleDuplicates == 0 }
    public var count: Int { acknowledged.count + others.count }
}

/// One decision other than "taken".
public struct Settlement: Sendable {
    public enum Kind: Sendable {
        /// Refused for good: the entry becomes a rejection, with its notification.
        case reject(RejectionCause)
        /// Over before it was sent: deleted, outcome *expired*.
        case expire
        /// Possibly sent and never to be sent again: deleted, outcome *unknown*.
        case unknown
        /// Not now: moves among the deferred, with its attempts.
        ///
        /// `possiblySent`: an attempt of it may have reached the service. The record keeps that for good, so that it is
        /// known in whatever process the entry goes again.
        case deferUntil(WallTime, attempts: UInt16, reason: Reason, possiblySent: Bool)
    }

    public let key: EntryKey
    public let kind: Kind

    public init(_ key: EntryKey, _ kind: Kind) {
        self.key = key
        self.kind = kind
    }
}

/// Why an entry was rejected.
public struct RejectionCause: Hashable, Sendable {
    public let reason: Reason
    /// The service's HTTP status; nil when the rejection is ours.
    public let status: Int?
    /// The service's timestamp (with 410: since when the token is not valid), exact to the millisecond.
    public let timestamp: WallTime?
    public let rejectedAt: WallTime

    public init(reason: Reason, status: Int? = nil, timestamp: WallTime? = nil, rejectedAt: WallTime) {
        self.reason = reason
        self.status = status
        self.timestamp = timestamp
        self.rejectedAt = rejectedAt
    }
}

/// How a settlement batch went.
public struct SettlementReport: Hashable, Sendable {
    /// Settlements that took effect.
    public var settled: Int
    /// Settlements whose entry was gone.
    public var gone: Int

    public init(settled: Int, gone: Int) {
        self.settled = settled
        self.gone = gone
    }
}

/// What one commit changed.
public struct CommitReport: Sendable {
    public struct Lane: Hashable, Sendable {
        public let id: LaneID
        /// The lane's greatest UID on disk.
        public let lastUID: UID
        /// The send mark on disk.
        public let mark: UID

        public init(id: LaneID, lastUID: UID, mark: UID) {
            self.id = id
            self.lastUID = lastUID
            self.mark = mark
        }
    }

    /// Lanes whose last UID or mark changed.
    public let lanes: [Lane]
    /// Producers whose last unconfirmed entry was settled by this commit.
    public let drained: [ProducerID]
    /// Outcomes that wait to be taken.
    public let outcomes: Int
    /// Why the journal can't go on until it is reopened. Reported once, for those who have no request under way that
    /// would be told: a commit may hold nothing but marks.
    public let failure: JournalError?

    public init(lanes: [Lane] = [], drained: [ProducerID] = [], outcomes: Int = 0, failure: JournalError? = nil) {
        self.lanes = lanes
        self.drained = drained
        self.outcomes = outcomes
        self.failure = failure
    }
}
