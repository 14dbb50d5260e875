/// The journal in figures.
public struct JournalStatus: Sendable {
    public struct Lane: Sendable {
        public var key: LaneKey
        package var id: LaneID
        public var unconfirmed: Int
        public var deferred: Int
        package var mark: UID
        public var state: LaneState
        /// Entries of the lane that are in quarantine.
        public var quarantined: Int
        package init(
            key: LaneKey, id: LaneID, unconfirmed: Int, deferred: Int, mark: UID, state: LaneState = .running,
            quarantined: Int = 0
        ) {
            self.quarantined = quarantined
            self.key = key
            self.id = id
            self.unconfirmed = unconfirmed
            self.deferred = deferred
            self.mark = mark
            self.state = state
        }
    }

    /// Entries without a terminal outcome, the deferred ones included.
    public var unconfirmed: Int
    /// Those of them that a crash would leave possibly sent.
    public var possiblySent: Int
    public var deferred: Int
    /// Entries whose records cannot be read: neither unconfirmed nor ended. Accepted entries are those that have ended,
    /// the unconfirmed, those aside and these.
    public var quarantined: Int
    public var rejections: Int
    /// Outcomes that wait to be taken.
    public var outcomes: Int
    /// Remembered identities.
    public var identities: Int
    /// Entries that silence has confirmed and that are kept aside in case a late error denies them. Not among the
    /// unconfirmed, and in no total but the accepted.
    public var aside: Int
    public var blacklist: Int
    public var nextUID: UID
    public var lanes: [Lane]
    public var totals: JournalTotals
    /// Bytes in use, against the limit that appends may fill.
    public var usedBytes: Int
    public var limitBytes: Int

    package init(
        unconfirmed: Int = 0, possiblySent: Int = 0, deferred: Int = 0, rejections: Int = 0, blacklist: Int = 0,
        nextUID: UID = UID(1), lanes: [Lane] = [], totals: JournalTotals = JournalTotals(), usedBytes: Int = 0,
        limitBytes: Int = 0, outcomes: Int = 0, identities: Int = 0, aside: Int = 0, quarantined: Int = 0
    ) {
        self.aside = aside
        self.quarantined = quarantined
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

    package init() {}

    /// All that have ended. Of damaged figures it may be anything.
    package var ended: UInt64 { [confirmed, rejected, expired, unknown, withdrawn].reduce(0, &+) }
}
