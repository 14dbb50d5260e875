/// The lane and UID of one entry. Opaque outside of this package.
public struct EntryKey: Hashable, Sendable {
    package let lane: LaneID
    package let uid: UID

    package init(lane: LaneID, uid: UID) {
        self.lane = lane
        self.uid = uid
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
        /// Taken back: deleted, outcome *withdrawn*; as ``withdrawSent`` if the entry's record says that it may have been sent.
        case withdraw
        /// Taken back while it was in flight, or after it may have been sent: deleted, outcome *unknown*, and the log says why.
        case withdrawSent
        /// A newer one takes its place: deleted, outcome *superseded*; *unknown* if the entry's record says that it may have been
        /// sent.
        case supersede
        /// Not now: becomes deferred, with its attempts.
        ///
        /// `possiblySent`: an attempt may have reached the service. The record keeps that for good, for later processes.
        case deferUntil(WallTime, attempts: UInt16, reason: Reason, possiblySent: Bool)
        /// To be tried in another lane, in the same commit: becomes deferred there, and its record says for good that it was
        /// moved. In `entries` it might lie below that lane's send mark, and look sent there. Only one that is not deferred.
        ///
        /// `possiblySent` as with ``deferUntil(_:attempts:reason:possiblySent:)``: of an attempt before the one that was refused.
        case move(to: LaneID, due: WallTime, reason: Reason, possiblySent: Bool)
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
