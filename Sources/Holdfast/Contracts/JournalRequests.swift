/// The state of a lane when it is opened. Opaque outside of this package.
public struct LaneOpening: Hashable, Sendable {
    package let id: LaneID
    /// The send mark at opening: unconfirmed entries at or below it are possibly sent.
    package let markAtOpen: UID
    /// The greatest UID ever appended to the lane; `.none` for a new one.
    package let lastUID: UID
    /// The state stored by ``JournalService/setState(of:to:completion:)``.
    package let state: LaneState

    package init(id: LaneID, markAtOpen: UID, lastUID: UID, state: LaneState = .running) {
        self.id = id
        self.markAtOpen = markAtOpen
        self.lastUID = lastUID
        self.state = state
    }
}

/// Notifications to append in one commit, packed by the submitter's thread. Opaque outside of this package.
public struct Submission: Sendable {
    package struct Item: Sendable {
        package let lane: LaneID
        let offset: UInt32
        let count: UInt32

        /// The range of its packed notification in ``Submission/bytes``.
        package var range: Range<Int> { Int(offset)..<Int(offset) + Int(count) }

        package init(lane: LaneID, range: Range<Int>) {
            self.lane = lane
            offset = UInt32(range.lowerBound)
            count = UInt32(range.count)
        }
    }

    /// The Producer that submits.
    package var producer: ProducerID
    /// The time of acceptance, by the wall clock. The age of ``identities`` counts from it.
    package var acceptedAt: WallTime
    /// The earliest possible present time, from an engine that trusts its clock. It becomes the journal's
    /// ``JournalService/wallTimeAtOpen`` at the next opening, which reveals a clock that was set back. `nil` leaves that
    /// unchanged: from operators, and from an engine that has distrusted its clock since its start.
    package var earliestTime: WallTime?
    /// Packed notifications side by side. See ``PackedNotification``.
    package var bytes: [UInt8]
    package var items: [Item]
    /// The identities of items whose sender chose their `apns-id`, by which repeats are recognised. Ascending by index.
    package var identities: [(index: Int, identity: Identity)]
    /// Identities to look up only: of notifications that are refused unless the journal took them before. The answers are in
    /// ``Appended/known``.
    package var inquiries: [Identity]
    /// The rejections of items that an operator sends again, ascending by index. Each rejection is removed in the same commit,
    /// and its remembered identity becomes the entry's. If it is gone already, the item is left out (``Appended/gone``).
    package var retries: [(index: Int, rejection: UID)]
    /// The histories of items that were entries of another journal before, ascending by index. Not for items with an identity.
    package var histories: [(index: Int, history: EntryHistory)]
    /// The times that items are scheduled for, ascending by index: those go among the scheduled entries. Not with ``retries`` or
    /// ``histories``.
    package var schedules: [(index: Int, time: WallTime)]
    /// A note that becomes durable in the same commit, such as how far a file was imported.
    package var note: (name: String, value: [UInt8])?

    package init(
        producer: ProducerID, acceptedAt: WallTime, earliestTime: WallTime? = nil, bytes: [UInt8] = [],
        items: [Item] = [], identities: [(index: Int, identity: Identity)] = [], inquiries: [Identity] = [],
        retries: [(index: Int, rejection: UID)] = [], histories: [(index: Int, history: EntryHistory)] = [],
        schedules: [(index: Int, time: WallTime)] = [], note: (name: String, value: [UInt8])? = nil
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
        self.schedules = schedules
        self.note = note
    }
}

/// The earlier state of an entry that is imported. Opaque outside of this package.
public struct EntryHistory: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// Among the entries that go out in UID order.
        case waiting
        /// In a ``ScheduledPlace`` for one that is scheduled.
        case deferred(until: WallTime)
        case rejected(RejectionCause)
    }

    package var place: Place
    /// Attempts that were answered "not now", or whose result is unknown.
    package var attempts: UInt16
    /// Whether an attempt of it may have reached the service.
    package var isPossiblySent: Bool
    /// The reason of the last "not now".
    package var lastReason: Reason?
    /// Its Producer; `nil` for the submission's.
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

/// The result of an append. Opaque outside of this package.
public struct Appended: Hashable, Sendable {
    /// An item that the journal had accepted before.
    package struct Repeat: Hashable, Sendable {
        /// The index of the item in its submission; in ``Appended/known``, of the inquiry.
        package let index: Int
        /// The UID assigned then.
        package let uid: UID
        /// Its outcome; `nil` while it is unconfirmed.
        package let outcome: TerminalOutcome?

        package init(index: Int, uid: UID, outcome: TerminalOutcome?) {
            self.index = index
            self.uid = uid
            self.outcome = outcome
        }
    }

    /// The UID of the first appended item; the others have consecutive UIDs, in the order of the items.
    package let first: UID
    /// The repeats among the items, ascending by index.
    package let repeats: [Repeat]
    /// The inquiries that the journal remembers, ascending by index.
    package var known: [Repeat] = []
    /// The indices of items that were left out because their rejection is gone; ascending.
    package let gone: [Int]

    package init(first: UID, repeats: [Repeat] = [], gone: [Int] = []) {
        self.first = first
        self.repeats = repeats
        self.gone = gone
    }

    /// The number of a submission's items that were appended.
    package func count(of submission: Submission) -> Int { submission.items.count - repeats.count - gone.count }
}

/// The lane and UID of one entry. Opaque outside of this package.
public struct EntryKey: Hashable, Sendable {
    package let lane: LaneID
    package let uid: UID

    package init(lane: LaneID, uid: UID) {
        self.lane = lane
        self.uid = uid
    }
}

/// Settlements of entries, for one commit. Opaque outside of this package.
public struct SettlementBatch: Sendable {
    /// Entries that the service took: deleted.
    package var acknowledged: [Acknowledgement]
    /// Entries confirmed by silence, which a late error may revoke: kept aside, neither unconfirmed nor ended. Their outcome
    /// is written when they leave it; see ``Settlement/Kind/recall(due:possiblySent:)`` and ``TrimBounds/asideBefore``. A full
    /// journal confirms them at once.
    package var quieted: [EntryKey]
    /// The most entries that the journal keeps aside. Beyond it the oldest are confirmed in the same commits.
    package var greatestAside: Int
    /// All other settlements.
    package var others: [Settlement]
    /// The number to add to the journal's total of possible duplicates, in the same commit.
    package var possibleDuplicates: Int
    /// The time of settlement, by the wall clock, for outcomes.
    package var settledAt: WallTime
    /// See ``Submission/earliestTime``.
    package var earliestTime: WallTime?
    /// Whether each terminal outcome is written to the log, in the same commit.
    package var keepsOutcomes: Bool
    /// Whether the log gets the payload with the outcome.
    package var keepsPayloads = false
    /// Details of single settlements for their outcomes, by UID; also of acknowledgements with an `apns-unique-id`.
    package var details: [UID: SettlementDetail] = [:]

    package init(
        acknowledged: [Acknowledgement] = [], others: [Settlement] = [], possibleDuplicates: Int = 0,
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
    /// The lanes that entries of it are moved to.
    var destinations: Set<LaneID> {
        var lanes: Set<LaneID> = []
        for settlement in others { if case .move(let lane, _, _) = settlement.kind { lanes.insert(lane) } }
        return lanes
    }
    package var count: Int { acknowledged.count + quieted.count + others.count }
}

/// How long ago an attempt was handed out, in milliseconds. Opaque outside of this package.
public struct SentAgo: Hashable, Sendable {
    package let milliseconds: UInt32

    package init(milliseconds: UInt32) { self.milliseconds = milliseconds }

    package static let unknown = SentAgo(milliseconds: .max)

    /// The time of the hand-out, seen from `settledAt`; `nil` if it is not known.
    package func time(before settledAt: WallTime) -> WallTime? {
        self == .unknown ? nil : WallTime(milliseconds: settledAt.milliseconds - Int64(milliseconds))
    }
}

/// An entry that the service took. Opaque outside of this package.
public struct Acknowledgement: Hashable, Sendable {
    package let lane: LaneID
    /// How long before ``SettlementBatch/settledAt`` it was handed out.
    package let sentAgo: SentAgo
    package let uid: UID

    package init(_ key: EntryKey, sentAgo: SentAgo = .unknown) {
        lane = key.lane
        uid = key.uid
        self.sentAgo = sentAgo
    }

    package var key: EntryKey { EntryKey(lane: lane, uid: uid) }
}

extension SettlementBatch {
    /// A batch that acknowledges `keys`, of which nobody knows when they were handed out.
    package init(
        acknowledging keys: [EntryKey], others: [Settlement] = [], possibleDuplicates: Int = 0,
        settledAt: WallTime = WallTime(milliseconds: 0), earliestTime: WallTime? = nil, keepsOutcomes: Bool = false
    ) {
        self.init(
            acknowledged: keys.map { Acknowledgement($0) }, others: others, possibleDuplicates: possibleDuplicates,
            settledAt: settledAt, earliestTime: earliestTime, keepsOutcomes: keepsOutcomes)
    }
}

/// What an outcome says beside the settlement itself. Opaque outside of this package.
public struct SettlementDetail: Hashable, Sendable {
    /// How long before ``SettlementBatch/settledAt`` the attempt was handed out.
    package var sentAgo: SentAgo
    /// The answer's `apns-unique-id`.
    package var uniqueID: String?
    /// Whether this ends an attempt, beside those that the entry's record counts.
    package var isAttempt: Bool

    package init(sentAgo: SentAgo = .unknown, uniqueID: String? = nil, isAttempt: Bool = true) {
        self.sentAgo = sentAgo
        self.uniqueID = uniqueID
        self.isAttempt = isAttempt
    }
}

/// One settlement other than an acknowledgement. Opaque outside of this package.
public struct Settlement: Sendable {
    package enum Kind: Sendable {
        /// Refused for good: the entry becomes a rejection, with its notification.
        case reject(RejectionCause)
        /// Expired before it was sent: deleted, outcome *expired*.
        case expire
        /// Possibly sent, and not sent again: deleted, outcome *unknown*.
        case unknown
        /// Taken back: deleted, outcome *withdrawn*; *unknown* if the entry's record says that it may have been sent.
        case withdraw
        /// A newer one takes its place: deleted, outcome *superseded*; *unknown* if the entry's record says that it may have been
        /// sent.
        case supersede
        /// Not now: becomes deferred, with its attempts.
        ///
        /// `possiblySent`: an attempt may have reached the service. The record keeps that for good, for later processes.
        case deferUntil(WallTime, attempts: UInt16, reason: Reason, possiblySent: Bool)
        /// To be tried in another lane, in the same commit: becomes deferred there, and its record says for good that it was
        /// moved. In `entries` it might lie below that lane's send mark, and look sent there. Only one that is not deferred.
        case move(to: LaneID, due: WallTime, reason: Reason)
        /// A late error revokes a confirmation by silence: an entry kept aside is unconfirmed again. With a due time it is
        /// deferred, else it goes out in UID order. One that has ended counts as gone.
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

/// The details of a rejection.
public struct RejectionCause: Hashable, Sendable {
    /// The service's reason, or one of Holdfast's own.
    public let reason: Reason
    /// The service's HTTP status; `nil` if Holdfast rejected the entry.
    public let status: Int?
    /// The service's timestamp, to the millisecond: with 410, the time since which the token is not valid.
    public let timestamp: WallTime?
    /// When the answer came, or when Holdfast gave the entry up, by this machine's wall clock.
    public let rejectedAt: WallTime

    package init(reason: Reason, status: Int? = nil, timestamp: WallTime? = nil, rejectedAt: WallTime) {
        self.reason = reason
        self.status = status
        self.timestamp = timestamp
        self.rejectedAt = rejectedAt
    }
}

/// The counts of a settlement batch. Opaque outside of this package.
public struct SettlementReport: Hashable, Sendable {
    /// Settlements that took effect.
    package var settled: Int
    /// Settlements whose entry was gone.
    package var gone: Int
    /// Of ``settled``: withdrawals that did not become *unknown*.
    package var withdrawn: Int

    package init(settled: Int = 0, gone: Int = 0, withdrawn: Int = 0) {
        self.settled = settled
        self.gone = gone
        self.withdrawn = withdrawn
    }
}

/// The changes of one commit. Opaque outside of this package.
public struct CommitReport: Sendable {
    package struct Lane: Hashable, Sendable {
        package let id: LaneID
        /// The lane's greatest UID on disk.
        package let lastUID: UID
        /// The send mark on disk.
        package let mark: UID
        /// Whether entries of the lane are scheduled, perhaps since this commit.
        package var hasSchedules: Bool

        package init(id: LaneID, lastUID: UID, mark: UID, hasSchedules: Bool = false) {
            self.id = id
            self.lastUID = lastUID
            self.mark = mark
            self.hasSchedules = hasSchedules
        }
    }

    /// Lanes whose last UID or mark changed.
    package let lanes: [Lane]
    /// Producers whose last unconfirmed entry was settled by this commit.
    package let drained: [ProducerID]
    /// The newest outcome of the log.
    package let newestOutcome: OutcomeCursor
    /// The number of outcomes that a reader that is waited for has not read.
    package let unreadOutcomes: Int
    /// Whether the log has new outcomes, or a reader of it has come, moved or gone: what waiting readers may wait for.
    package let changesOutcomes: Bool
    /// Why the journal must be reopened. Reported once, since a commit may hold nothing but marks, and then no request gets
    /// the error.
    package let failure: JournalError?
    /// The size and duration of the commit; `nil` for one that failed.
    package let measure: CommitMeasure?

    package init(
        lanes: [Lane] = [], drained: [ProducerID] = [], newestOutcome: OutcomeCursor = .start, unreadOutcomes: Int = 0,
        changesOutcomes: Bool = false, failure: JournalError? = nil, measure: CommitMeasure? = nil
    ) {
        self.lanes = lanes
        self.drained = drained
        self.newestOutcome = newestOutcome
        self.unreadOutcomes = unreadOutcomes
        self.changesOutcomes = changesOutcomes
        self.failure = failure
        self.measure = measure
    }
}
