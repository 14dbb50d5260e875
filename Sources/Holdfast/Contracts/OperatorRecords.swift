// Arguments and results of an ``OperatorDesk``.

/// The state of one entry that only the running process knows.
public struct EntryInsight: Hashable, Sendable {
    /// The entry's progress within the process. More cases may come.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Standing: Hashable, Sendable {
        /// With a connection since this time, without an answer. The time is `nil` if only errors are answered.
        case inFlight(since: WallTime?)
        /// Answered, and not durably settled yet.
        case settling
        /// The service calls its token bad, for this reason; the engine has not decided yet.
        case suspect(Reason?)
        /// Waits in memory to be sent again, before entries that were not handed out yet.
        case requeued(possiblySent: Bool)
        /// Possibly handed out by an earlier process, and not read from the journal since.
        case possiblySentBefore
    }

    /// The entry's UID.
    public var uid: UID
    /// The entry's progress within the process.
    public var standing: Standing

    package init(uid: UID, standing: Standing) {
        self.uid = uid
        self.standing = standing
    }
}

/// The counts of a withdrawal.
public struct Withdrawal: Hashable, Sendable {
    /// Entries that were never sent, and never will be.
    public var withdrawn: Int
    /// Entries that may have been sent, and will not be sent again.
    public var unknown: Int
    /// Entries that had ended before, or never existed.
    public var gone: Int

    package init(withdrawn: Int = 0, unknown: Int = 0, gone: Int = 0) {
        self.withdrawn = withdrawn
        self.unknown = unknown
        self.gone = gone
    }

    init(_ report: SettlementReport, asked: Int) {
        self.init(
            withdrawn: report.withdrawn, unknown: report.settled - report.withdrawn, gone: asked - report.settled)
    }

    package static func += (lhs: inout Withdrawal, rhs: Withdrawal) {
        lhs.withdrawn += rhs.withdrawn
        lhs.unknown += rhs.unknown
        lhs.gone += rhs.gone
    }
}

/// The result of sending a rejection again.
public struct Retry: Hashable, Sendable {
    /// The result of one retry. More cases may come.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Result: Hashable, Sendable {
        /// A new entry with this UID replaces the rejection.
        case accepted(UID)
        /// There is no such rejection, or not any more.
        case gone
        /// The notification would be refused again, for example because its token is blacklisted. The rejection stays.
        case refused(Refusal)
    }

    /// The UID of the rejection.
    public let rejection: UID
    /// The result for this rejection.
    public let result: Result

    package init(rejection: UID, result: Result) {
        self.rejection = rejection
        self.result = result
    }
}

/// A note on how far an import has come, committed together with the imported entries. Opaque outside of this package.
public struct RestoreNote: Hashable, Sendable {
    package var name: String
    package var value: [UInt8]
    /// The note's value when the caller read it; `nil` if there was none. The entries are taken only if it has not changed, so
    /// that two imports of the same file, or one that resumes while its last request is still in progress, take nothing twice.
    package var before: [UInt8]?
    /// Whether ``before`` is compared.
    package var isChecked: Bool

    /// Creates a note that is written only if the present value is `before`.
    package init(name: String, value: [UInt8], before: [UInt8]?) {
        (self.name, self.value, self.before, isChecked) = (name, value, before, true)
    }

    package init(name: String, value: [UInt8]) {
        (self.name, self.value, before, isChecked) = (name, value, nil, false)
    }
}

/// An entry of another journal. Opaque outside of this package.
public struct RestoredEntry: Hashable, Sendable {
    package var lane: LaneKey
    /// 1 to 64 bytes.
    package var producer: String
    /// The notification, with its id and its expiration.
    package var notification: PushNotification
    package var acceptedAt: WallTime
    /// The entry's history in the other journal. Its ``EntryHistory/producer`` is ignored.
    package var history: EntryHistory
    /// The UID, in the other journal, of the rejection that was sent again as this entry.
    package var retryOf: UID?

    package init(
        lane: LaneKey, producer: String, notification: PushNotification, acceptedAt: WallTime,
        history: EntryHistory = EntryHistory(), retryOf: UID? = nil
    ) {
        self.lane = lane
        self.producer = producer
        self.notification = notification
        self.acceptedAt = acceptedAt
        self.history = history
        self.retryOf = retryOf
    }

    /// The contradiction between lane and notification, for operators; `nil` if there is none.
    ///
    /// The lane alone decides whether a possibly sent notification is sent again, so an at-most-once notification in an
    /// at-least-once lane would lose its guarantee. (The reverse is no contradiction: expiration 0 puts any notification in an
    /// at-most-once lane.)
    package var contradiction: String? {
        guard lane.guarantee == .atLeastOnce else { return nil }
        let what: String
        if notification.guarantee == .atMostOnce {
            what = "its guarantee is at-most-once"
        } else if notification.expiration == .once {
            what = "its expiration 0 allows one attempt"
        } else {
            return nil
        }
        return "\(what), and its lane \(lane) sends again what may have been taken"
    }
}

/// The result of reading a route's credentials again.
public struct CredentialReload: Hashable, Sendable {
    /// The route's name.
    public let route: String
    /// Why the new credentials are not used, for operators; the old ones stay in use. `nil` on success.
    public let failure: String?

    package init(route: String, failure: String? = nil) {
        self.route = route
        self.failure = failure
    }
}
