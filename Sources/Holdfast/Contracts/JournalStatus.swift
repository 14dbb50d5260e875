/// A snapshot of the journal's counts.
public struct JournalStatus: Sendable {
    /// One lane of the journal.
    public struct Lane: Sendable {
        /// The lane's route, urgency and guarantee.
        public var key: LaneKey
        package var id: LaneID
        /// Entries without a terminal outcome, the deferred and the scheduled ones included.
        public var unconfirmed: Int
        /// Unconfirmed entries that wait for their due time.
        public var deferred: Int
        /// Unconfirmed entries that wait for the time from which they may be delivered.
        public var scheduled: Int
        /// Of ``deferred``: entries whose tag is paused, or was until now.
        public var heldByTag: Int
        package var mark: UID
        /// Whether the lane runs, as noted in the journal.
        public var state: LaneState
        /// Entries of the lane that are in quarantine.
        public var quarantined: Int
        package init(
            key: LaneKey, id: LaneID, unconfirmed: Int, deferred: Int, scheduled: Int = 0, mark: UID,
            state: LaneState = .running, quarantined: Int = 0, heldByTag: Int = 0
        ) {
            self.heldByTag = heldByTag
            self.scheduled = scheduled
            self.quarantined = quarantined
            self.key = key
            self.id = id
            self.unconfirmed = unconfirmed
            self.deferred = deferred
            self.mark = mark
            self.state = state
        }
    }

    /// Entries without a terminal outcome, the deferred and the scheduled ones included.
    public var unconfirmed: Int
    /// Unconfirmed entries of which an attempt may have reached the service.
    public var possiblySent: Int
    /// Unconfirmed entries that wait for their due time.
    public var deferred: Int
    /// Unconfirmed entries that wait for the time from which they may be delivered.
    public var scheduled: Int
    /// Of ``deferred``: entries whose tag is paused, or was until now.
    public var heldByTag: Int { lanes.reduce(0) { $0 + $1.heldByTag } }
    /// Entries in quarantine, because their records cannot be read: neither unconfirmed nor ended. The accepted entries are
    /// the ended, the unconfirmed, those aside and these.
    public var quarantined: Int
    /// Rejections that are kept.
    public var rejections: Int
    /// Outcomes that wait to be taken.
    public var outcomes: Int
    /// Remembered identities.
    public var identities: Int
    /// Entries that silence has confirmed, kept in case a late error revokes that. Not unconfirmed, and in no total but the
    /// accepted.
    public var aside: Int
    /// Recipients on the blacklist.
    public var blacklist: Int
    /// The UID that the next accepted notification gets.
    public var nextUID: UID
    /// Every lane that was ever opened.
    public var lanes: [Lane]
    /// Totals since the journal was made.
    public var totals: JournalTotals
    /// Bytes in use. Appends are refused at ``limitBytes``.
    public var usedBytes: Int
    /// The limit for appends, in bytes; see ``usedBytes``.
    public var limitBytes: Int

    package init(
        unconfirmed: Int = 0, possiblySent: Int = 0, deferred: Int = 0, scheduled: Int = 0, rejections: Int = 0,
        blacklist: Int = 0,
        nextUID: UID = UID(1), lanes: [Lane] = [], totals: JournalTotals = JournalTotals(), usedBytes: Int = 0,
        limitBytes: Int = 0, outcomes: Int = 0, identities: Int = 0, aside: Int = 0, quarantined: Int = 0
    ) {
        self.scheduled = scheduled
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

/// Totals since the journal was made, committed together with the notifications.
public struct JournalTotals: Hashable, Sendable {
    /// Notifications accepted; repeats are not counted again.
    public var accepted: UInt64 = 0
    /// Notifications taken by the service.
    public var confirmed: UInt64 = 0
    /// Notifications refused for good.
    public var rejected: UInt64 = 0
    /// Notifications that expired before they could be sent.
    public var expired: UInt64 = 0
    /// Notifications that may have been sent and are not sent again.
    public var unknown: UInt64 = 0
    /// Notifications taken back before they were sent.
    public var withdrawn: UInt64 = 0
    /// Notifications whose place a newer one took before they were sent.
    public var superseded: UInt64 = 0
    /// Attempts that followed one which the service may have taken.
    public var possibleDuplicates: UInt64 = 0

    package init() {}

    /// The number of ended notifications. Meaningless if the figures are damaged.
    package var ended: UInt64 { [confirmed, rejected, expired, unknown, withdrawn, superseded].reduce(0, &+) }
}
