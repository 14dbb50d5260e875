/// Where accepted notifications live until they are settled. One process owns it for writing.
///
/// Appends and settlements are enqueued from any thread and never block; one writer takes everything that waits, writes
/// it in one transaction with one sync, and then calls each completion, on the writer's own thread, in the order of the
/// calls (that of a trim excepted, which lets others go first). A completion must not block. Reads are synchronous and
/// may be called from any thread, completions excepted.
public protocol Journal: AnyObject, Sendable {
    /// Opens the lane, durably registering it the first time.
    func openLane(_ key: LaneKey) throws(JournalError) -> LaneOpening

    /// Gives the Producer of this name its number, durably registering it the first time.
    ///
    /// - Parameter name: 1 to 64 bytes of UTF-8; at most ``ProducerID/greatestCount`` names in a journal.
    /// - Throws: ``JournalError`` with code ``JournalError/Code/tooManyProducers`` for one name too many.
    func openProducer(_ name: String) throws(JournalError) -> ProducerID

    /// The secret of this journal with which ``Identity`` is computed, made with the journal and never changed: so that
    /// nobody can build two notifications that are taken for one.
    var identityKey: IdentityKey { get }

    /// Appends all notifications of `submission` in one commit and gives them consecutive UIDs, but for those whose
    /// ``Identity`` the journal remembers: these are not appended again.
    ///
    /// - Parameter completion: the UIDs, when the commit is on disk at the journal's durability level; or
    ///   why not. Unless the error's code is ``JournalError/Code/undetermined``, nothing of it is in the journal.
    func append(_ submission: Submission, completion: @escaping @Sendable (Result<Appended, JournalError>) -> Void)

    /// Settles all of `batch` in one commit (a large batch in several, in order).
    ///
    /// A settlement for an entry that is gone is counted and otherwise without effect: the first durable one wins.
    ///
    /// - Parameter completion: when the commit is on disk; on failure the same batch may be settled again.
    func settle(
        _ batch: SettlementBatch, completion: @escaping @Sendable (Result<SettlementReport, JournalError>) -> Void)

    /// Lets the lane's send mark rise to `ceiling`, with the commits that come anyway: each commit sets the mark to the
    /// lesser of the ceiling and the lane's last UID. Forces a commit of its own only when the mark is below both.
    /// An entry may be handed out only once the mark reported by ``CommitReport`` covers it.
    func raiseMark(of lane: LaneID, to ceiling: UID)

    /// Sets the lane's send mark back to `mark`, if it is above it, and forgets its ceiling. For an orderly end: when
    /// everything that was handed out above `mark` has its settlement on disk, or was provably not processed.
    ///
    /// - Parameter completion: when the commit is on disk.
    func lowerMark(
        of lane: LaneID, to mark: UID, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Moves deferred entries of the lane that are due back among the unconfirmed, oldest due first, durably.
    ///
    /// - Parameter after: only those that are due later than this; nil for all.
    /// - Parameter completion: the UIDs moved, in due order, at most `limit`.
    func promoteDue(
        _ lane: LaneID, after: WallTime?, now: WallTime, limit: Int,
        completion: @escaping @Sendable (Result<[UID], JournalError>) -> Void
    )

    /// When the lane's next deferred entry is due; nil when there is none.
    func nextDue(_ lane: LaneID) throws(JournalError) -> WallTime?

    /// Unconfirmed entries of the lane above `after`, ascending; deferred ones are not among them.
    ///
    /// - Parameters:
    ///   - through: the greatest UID wanted.
    ///   - limit: the most entries; fewer come when their bytes exceed about 1 MiB. Empty means there are no more.
    func unconfirmed(_ lane: LaneID, after: UID, through: UID, limit: Int) throws(JournalError) -> EntryBatch

    /// Those of `uids` (ascending) that are still unconfirmed and not deferred.
    func unconfirmed(_ lane: LaneID, uids: [UID]) throws(JournalError) -> EntryBatch

    /// The number of the lane's unconfirmed entries, deferred ones included. From memory.
    func depth(_ lane: LaneID) -> Int

    /// The number of the Producer's unconfirmed entries, in all lanes, deferred ones included. From memory.
    func backlog(of producer: ProducerID) -> Int

    /// Every Producer that ever opened this journal, with what became of its notifications.
    func producers() throws(JournalError) -> [ProducerStatus]

    /// What became of an entry, as far as the journal still knows; nil when it knows nothing: its outcome was taken, or
    /// nobody wanted it.
    func fate(of uid: UID) throws(JournalError) -> EntryFate?

    /// The number of outcomes that wait to be taken. From memory.
    var outcomeCount: Int { get }

    /// Outcomes that were kept and are not yet removed, ascending by UID from the first above `after`.
    func outcomes(after: UID, limit: Int) throws(JournalError) -> [Outcome]

    /// Removes outcomes: they were taken. UIDs without one are passed over.
    ///
    /// - Parameter completion: when the commit is on disk.
    func removeOutcomes(_ uids: [UID], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void)

    /// Rejections in the order of their UIDs, from the first above `after`.
    func rejections(after: UID, limit: Int) throws(JournalError) -> [Rejection]

    /// Deletes what is beyond the bounds, in as many commits as it takes, between which others have theirs.
    ///
    /// - Parameter completion: how much was deleted, when the last commit is on disk.
    func trim(_ bounds: TrimBounds, completion: @escaping @Sendable (Result<Trimmed, JournalError>) -> Void)

    /// The wall time of the last commit before the journal was opened; nil for a new one. A start before it means that
    /// the clock was set back, or is wrong.
    var wallTimeAtOpen: WallTime? { get }

    /// The durable storage of the blacklist. Its rules are ``TokenBlacklist``'s.
    var blacklist: any BlacklistStorage { get }

    /// What a caller left under `name`, such as how far a file has been submitted; nil when there is nothing.
    func note(_ name: String) throws(JournalError) -> [UInt8]?

    /// Stores, or with nil removes, a note, durably on return. Not for hot paths.
    func setNote(_ name: String, to value: [UInt8]?) throws(JournalError)

    func status() throws(JournalError) -> JournalStatus

    /// Called on the writer's thread after each commit, before the completions of what it held. One observer at a time.
    func observeCommits(_ observer: (@Sendable (CommitReport) -> Void)?)

    /// Writes what waits, then closes; later calls fail with ``JournalError/Code/closed``. Idempotent; blocks until done.
    func close()
}

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

/// The journal in figures.
public struct JournalStatus: Sendable {
    public struct Lane: Sendable {
        public var key: LaneKey
        public var id: LaneID
        public var unconfirmed: Int
        public var deferred: Int
        public var mark: UID
        public init(key: LaneKey, id: LaneID, unconfirmed: Int, deferred: Int, mark: UID) {
            self.key = key
            self.id = id
            self.unconfirmed = unconfirmed
            self.deferred = deferred
            self.mark = mark
        }
    }

    /// Entries without a terminal outcome, the deferred ones included.
    public var unconfirmed: Int
    /// Those of them that a crash would leave possibly sent.
    public var possiblySent: Int
    public var deferred: Int
    public var rejections: Int
    /// Outcomes that wait to be taken.
    public var outcomes: Int
    /// Remembered identities.
    public var identities: Int
    public var blacklist: Int
    public var nextUID: UID
    public var lanes: [Lane]
    public var totals: JournalTotals
    /// Bytes in use, against the limit that appends may fill.
    public var usedBytes: Int
    public var limitBytes: Int

    public init(
        unconfirmed: Int = 0, possiblySent: Int = 0, deferred: Int = 0, rejections: Int = 0, blacklist: Int = 0,
        nextUID: UID = UID(1), lanes: [Lane] = [], totals: JournalTotals = JournalTotals(), usedBytes: Int = 0,
        limitBytes: Int = 0, outcomes: Int = 0, identities: Int = 0
    ) {
        self.unconfirmed = unconfirmed
        self.possiblySent = possiblySent
        self.deferred = deferred
        self.rejections = rejections
        self.outcomes = outcomes
        self.identities = identities
        self.blacklist = blacklist
        self.nextUID = nextUID
        self.lanes = lanes
        self.totals = totals
        self.usedBytes = usedBytes
        self.limitBytes = limitBytes
    }
}

/// Totals since the journal was made, kept in the same commits as what they count.
public struct JournalTotals: Hashable, Sendable {
    public var accepted: UInt64 = 0
    public var confirmed: UInt64 = 0
    public var rejected: UInt64 = 0
    public var expired: UInt64 = 0
    public var unknown: UInt64 = 0
    public var withdrawn: UInt64 = 0
    public var possibleDuplicates: UInt64 = 0

    public init() {}
}
