/// What the journal knows of a lane when it is opened.
public struct LaneOpening: Hashable, Sendable {
    package let id: LaneID
    /// The send mark as it is when the lane is opened: unconfirmed entries at or below it are possibly sent.
    package let markAtOpen: UID
    /// The greatest UID ever appended to the lane; `.none` for a new one.
    package let lastUID: UID
    /// As it was left by ``Journal/setState(of:to:completion:)``.
    package let state: LaneState

    package init(id: LaneID, markAtOpen: UID, lastUID: UID, state: LaneState = .running) {
        self.id = id
        self.markAtOpen = markAtOpen
        self.lastUID = lastUID
        self.state = state
    }
}

/// Notifications to append in one commit, packed by the submitter's thread.
public struct Submission: Sendable {
    package struct Item: Sendable {
        package let lane: LaneID
        let offset: UInt32
        let count: UInt32

        /// Where its packed notification lies in ``Submission/bytes``.
        package var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }

        package init(lane: LaneID, range: Range<Int>) {
            self.lane = lane
            offset = UInt32(range.lowerBound)
            count = UInt32(range.count)
        }
    }

    /// Who submits.
    package var producer: ProducerID
    /// By the wall clock: what the age of ``identities`` counts from.
    package var acceptedAt: WallTime
    /// The earliest time that it may be, by somebody who watches the clock: becomes the journal's
    /// ``Journal/wallTimeAtOpen`` for the next opening, by which a wrong clock is found out. Nil leaves that as it is, as
    /// operators do, and an engine that has doubted its clock since its start.
    package var earliestTime: WallTime?
    /// Packed notifications side by side. See ``PackedNotification``.
    package var bytes: [UInt8]
    package var items: [Item]
    /// For those items whose sender chose their apns-id, ascending by index: what a repeat is recognised by.
    package var identities: [(index: Int, identity: Identity)]
    /// Looked up and not remembered: of notifications that are refused unless the journal has taken them before. The answers
    /// are ``Appended/known``.
    package var inquiries: [Identity]
    /// For those items that an operator sends again, ascending by index: the rejection that the entry is made of, which
    /// is removed in the same commit, and whose remembered identity becomes the entry's. Where it is gone already, the item
    /// is left out (``Appended/gone``).
    package var retries: [(index: Int, rejection: UID)]
    /// For those items that were entries before, in another journal or another time, ascending by index: how they lay
    /// there. Not for items with an identity.
    package var histories: [(index: Int, history: EntryHistory)]
    /// A note that becomes durable in the same commit: how far a file was taken, say.
    package var note: (name: String, value: [UInt8])?

    package init(
        producer: ProducerID, acceptedAt: WallTime, earliestTime: WallTime? = nil, bytes: [UInt8] = [],
        items: [Item] = [], identities: [(index: Int, identity: Identity)] = [], inquiries: [Identity] = [],
        retries: [(index: Int, rejection: UID)] = [], histories: [(index: Int, history: EntryHistory)] = [],
        note: (name: String, value: [UInt8])? = nil
    ) {
        self.producer = producer
        self.acceptedAt = acceptedAt
        self.earliestTime = earliestTime
        self.bytes = bytes
        self.items = items
        self.identities = identities
        self.inquiries = inquiries
        self.retries = retries
        self.histories = histories
        self.note = note
    }
}

/// How an entry lay in a journal before.
public struct EntryHistory: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Among those that go out in UID order.
        case waiting
        case deferred(until: WallTime)
        case rejected(RejectionCause)
    }

    package var place: Place
    /// How often it was answered "not now", or with nothing known.
    package var attempts: UInt16
    /// An attempt of it may have reached the service.
    package var isPossiblySent: Bool
    /// Why it was last answered "not now".
    package var lastReason: Reason?
    /// Whose it is; nil for the submission's Producer.
    package var producer: ProducerID?

    package init(
        place: Place = .waiting, attempts: UInt16 = 0, isPossiblySent: Bool = false, lastReason: Reason? = nil,
        producer: ProducerID? = nil
    ) {
        self.producer = producer
        self.place = place
        self.attempts = attempts
        self.isPossiblySent = isPossiblySent
        self.lastReason = lastReason
    }
}

/// What an append came to.
public struct Appended: Hashable, Sendable {
    /// An item that the journal had taken before.
    package struct Repeat: Hashable, Sendable {
        /// Of the item in its submission; of ``Appended/known``, among its inquiries.
        package let index: Int
        /// The UID it was given then.
        package let uid: UID
        /// What became of it; nil while it is unconfirmed.
        package let outcome: TerminalOutcome?

        package init(index: Int, uid: UID, outcome: TerminalOutcome?) {
            self.index = index
            self.uid = uid
            self.outcome = outcome
        }
    }

    /// The UID of the first item that was appended; the others follow one by one, in the order of the items.
    package let first: UID
    /// Ascending by index.
    package let repeats: [Repeat]
    /// Those of ``Submission/inquiries`` that the journal remembers, ascending by index.
    package var known: [Repeat] = []
    /// Items that were left out because the rejection they retry is gone; ascending.
    package let gone: [Int]

    package init(first: UID, repeats: [Repeat] = [], gone: [Int] = []) {
        self.first = first
        self.repeats = repeats
        self.gone = gone
    }

    /// How many of a submission's items were appended.
    package func count(of submission: Submission) -> Int { submission.items.count - repeats.count - gone.count }
}

/// Names one entry.
public struct EntryKey: Hashable, Sendable {
    package let lane: LaneID
    package let uid: UID

    package init(lane: LaneID, uid: UID) {
        self.lane = lane
        self.uid = uid
    }
}

/// What the Producer has decided about entries.
public struct SettlementBatch: Sendable {
    /// Taken by the service: deleted.
    package var acknowledged: [EntryKey]
    /// Confirmed by silence, which a late error may deny: kept aside, where they are neither unconfirmed nor over. Their
    /// outcome is written when they leave it; see ``Settlement/Kind/recall(due:possiblySent:)`` and
    /// ``TrimBounds/asideBefore``. A journal that is full confirms them at once.
    package var quieted: [EntryKey]
    /// The most entries of the journal that are kept aside. Beyond that the oldest are confirmed in the same commits.
    package var greatestAside: Int
    /// Everything else.
    package var others: [Settlement]
    /// Added to the journal's total of possible duplicates in the same commit.
    package var possibleDuplicates: Int
    /// By the wall clock; goes into outcomes.
    package var settledAt: WallTime
    /// The earliest time that it may be, by somebody who watches the clock: becomes the journal's
    /// ``Journal/wallTimeAtOpen`` for the next opening, by which a wrong clock is found out. Nil leaves that as it is, as
    /// operators do, and an engine that has doubted its clock since its start.
    package var earliestTime: WallTime?
    /// Whether each terminal outcome is kept, in the same commit, until ``Journal/removeOutcomes(_:completion:)``.
    package var keepsOutcomes: Bool

    package init(
        acknowledged: [EntryKey] = [], others: [Settlement] = [], possibleDuplicates: Int = 0,
        settledAt: WallTime = WallTime(milliseconds: 0), earliestTime: WallTime? = nil, keepsOutcomes: Bool = false,
        quieted: [EntryKey] = [], greatestAside: Int = .max
    ) {
        self.acknowledged = acknowledged
        self.quieted = quieted
        self.greatestAside = greatestAside
        self.others = others
        self.possibleDuplicates = possibleDuplicates
        self.settledAt = settledAt
        self.earliestTime = earliestTime
        self.keepsOutcomes = keepsOutcomes
    }

    package var isEmpty: Bool {
        acknowledged.isEmpty && quieted.isEmpty && others.isEmpty && possibleDuplicates == 0
    }
    package var count: Int { acknowledged.count + quieted.count + others.count }
}

/// One decision other than "taken".
public struct Settlement: Sendable {
    package enum Kind: Sendable {
        /// Refused for good: the entry becomes a rejection, with its notification.
        case reject(RejectionCause)
        /// Over before it was sent: deleted, outcome *expired*.
        case expire
        /// Possibly sent and never to be sent again: deleted, outcome *unknown*.
        case unknown
        /// Taken back: deleted, outcome *withdrawn*; or *unknown* where the entry's record says that it may have been sent.
        case withdraw
        /// Not now: moves among the deferred, with its attempts.
        ///
        /// `possiblySent`: an attempt of it may have reached the service. The record keeps that for good, so that it is
        /// known in whatever process the entry goes again.
        case deferUntil(WallTime, attempts: UInt16, reason: Reason, possiblySent: Bool)
        /// A late error denies what silence has confirmed: an entry that is kept aside is unconfirmed again. With a due
        /// time it lies among the deferred, else among those that go in UID order. One that is over is gone.
        ///
        /// `possiblySent` as with ``deferUntil(_:attempts:reason:possiblySent:)``.
        case recall(due: WallTime?, possiblySent: Bool)
    }

    package let key: EntryKey
    package let kind: Kind

    package init(_ key: EntryKey, _ kind: Kind) {
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

    package init(reason: Reason, status: Int? = nil, timestamp: WallTime? = nil, rejectedAt: WallTime) {
        self.reason = reason
        self.status = status
        self.timestamp = timestamp
        self.rejectedAt = rejectedAt
    }
}

/// How a settlement batch went.
public struct SettlementReport: Hashable, Sendable {
    /// Settlements that took effect.
    package var settled: Int
    /// Settlements whose entry was gone.
    package var gone: Int
    /// Of those settled: withdrawals that did not become *unknown*.
    package var withdrawn: Int

    package init(settled: Int = 0, gone: Int = 0, withdrawn: Int = 0) {
        self.settled = settled
        self.gone = gone
        self.withdrawn = withdrawn
    }
}

/// What one commit changed.
public struct CommitReport: Sendable {
    package struct Lane: Hashable, Sendable {
        package let id: LaneID
        /// The lane's greatest UID on disk.
        package let lastUID: UID
        /// The send mark on disk.
        package let mark: UID

        package init(id: LaneID, lastUID: UID, mark: UID) {
            self.id = id
            self.lastUID = lastUID
            self.mark = mark
        }
    }

    /// Lanes whose last UID or mark changed.
    package let lanes: [Lane]
    /// Producers whose last unconfirmed entry was settled by this commit.
    package let drained: [ProducerID]
    /// Outcomes that wait to be taken.
    package let outcomes: Int
    /// Why the journal can't go on until it is reopened. Reported once, for those who have no request under way that
    /// would be told: a commit may hold nothing but marks.
    package let failure: JournalError?
    /// How much it was, and how long it took; nil for one that failed.
    package let measure: CommitMeasure?

    package init(
        lanes: [Lane] = [], drained: [ProducerID] = [], outcomes: Int = 0, failure: JournalError? = nil,
        measure: CommitMeasure? = nil
    ) {
        self.lanes = lanes
        self.drained = drained
        self.outcomes = outcomes
        self.failure = failure
        self.measure = measure
    }
}
