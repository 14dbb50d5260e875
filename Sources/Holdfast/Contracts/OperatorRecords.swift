/// What an ``OperatorDesk`` is given and gives.

/// What only the living process knows of an entry.
public struct EntryInsight: Hashable, Sendable {
    public enum Standing: Hashable, Sendable {
        /// With a connection since then, not answered. The time is not known where only errors are answered.
        case inFlight(since: WallTime?)
        /// Answered; what follows from it is not on disk yet.
        case settling
        /// The service calls its token bad, which is being judged; with the service's word.
        case suspect(Reason?)
        /// Goes again before anything that was not handed out yet.
        case requeued(possiblySent: Bool)
        /// Handed out by an earlier process, as far as its journal tells, and not read again yet.
        case possiblySentBefore
    }

    public var uid: UID
    public var standing: Standing

    package init(uid: UID, standing: Standing) {
        self.uid = uid
        self.standing = standing
    }
}

/// What became of entries that were to be taken back.
public struct Withdrawal: Hashable, Sendable {
    /// Never sent, and never will be.
    public var withdrawn: Int
    /// May have been sent, and will not be sent again.
    public var unknown: Int
    /// Had met their end before, or never were.
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

/// What became of a rejection that was to be sent again.
public struct Retry: Hashable, Sendable {
    public enum Result: Hashable, Sendable {
        /// As this entry; the rejection is gone.
        case accepted(UID)
        /// There is no such rejection (any more).
        case gone
        /// It would be refused again: its token is on the blacklist, say. The rejection stays.
        case refused(Refusal)
    }

    public let rejection: UID
    public let result: Result

    package init(rejection: UID, result: Result) {
        self.rejection = rejection
        self.result = result
    }
}

/// How far entries of another journal were taken, written with them.
public struct RestoreNote: Hashable, Sendable {
    package var name: String
    package var value: [UInt8]
    /// What the note was when the caller read it, nil where there was none: the entries are taken only if it still is. So two
    /// who take the same file, or one who goes on after a kill while its last request is still under way, take nothing twice.
    package var before: [UInt8]?
    /// Whether ``before`` is looked at.
    package var isChecked: Bool

    /// - Parameter before: see ``before``; without it whatever was noted is written over.
    package init(name: String, value: [UInt8], before: [UInt8]?) {
        (self.name, self.value, self.before, isChecked) = (name, value, before, true)
    }

    package init(name: String, value: [UInt8]) {
        (self.name, self.value, before, isChecked) = (name, value, nil, false)
    }
}

/// An entry of another journal.
public struct RestoredEntry: Hashable, Sendable {
    package var lane: LaneKey
    /// 1 to 64 bytes.
    package var producer: String
    /// With its id and its expiration.
    package var notification: PushNotification
    package var acceptedAt: WallTime
    /// Its ``EntryHistory/producer`` is of no account.
    package var history: EntryHistory
    /// The rejection that an operator sent again as this entry, by its UID there.
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

    /// What the lane and the notification say against each other, for people; `nil` for an entry that an engine could have
    /// accepted.
    ///
    /// The lane alone decides whether a notification that may have been taken goes again. So a notification with one attempt
    /// in a lane that sends again would lose its guarantee. (In a lane with one attempt the notification's own guarantee is of
    /// no account: expiration 0 puts it there as well.)
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

/// What came of reading a route's credentials again.
public struct CredentialReload: Hashable, Sendable {
    public let route: String
    /// Why they are not taken up, in words; what was in use stays in use then. Nil when they are.
    public let failure: String?

    package init(route: String, failure: String? = nil) {
        self.route = route
        self.failure = failure
    }
}
