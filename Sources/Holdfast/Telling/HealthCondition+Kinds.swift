extension HealthCondition.Kind {
    /// No connection to the push service can be made, or it does not answer.
    public static let serviceAway = Self(rawValue: "service-away")
    /// No connection may be made yet: as many were made of late as the limit on new ones allows.
    public static let connectionsLimited = Self(rawValue: "connections-limited")
    /// Few notifications go at a time, since one of them ends the connections that it is sent on.
    public static let sendingCarefully = Self(rawValue: "sending-carefully")
    /// Notifications wait in their turn, and nothing of the route was taken for a while, for no reason that is told.
    public static let nothingTaken = Self(rawValue: "nothing-taken")
    /// The push service refuses a route's credentials.
    public static let credentialsRefused = Self(rawValue: "credentials-refused")
    /// Something other than the push service answers.
    public static let wrongServer = Self(rawValue: "wrong-server")
    /// A lane has stopped, because everything was refused in the same way.
    public static let laneStopped = Self(rawValue: "lane-stopped")
    /// An operator has paused a lane.
    public static let lanePaused = Self(rawValue: "lane-paused")
    /// The push service refuses a topic.
    public static let topicSetAside = Self(rawValue: "topic-set-aside")
    /// The push service calls most tokens of a topic bad.
    public static let massBadTokens = Self(rawValue: "mass-bad-tokens")
    /// An operator has paused a tag.
    public static let tagPaused = Self(rawValue: "tag-paused")
    /// The push service throttles a route, or is unavailable.
    public static let throttled = Self(rawValue: "throttled")
    /// The push service wants no new provider tokens for a while.
    public static let parked = Self(rawValue: "parked")
    /// The journal has reached its limit, and refuses notifications.
    public static let journalFull = Self(rawValue: "journal-full")
    /// The journal's disk is full or refuses writes.
    public static let diskRefusing = Self(rawValue: "disk-refusing")
    /// The journal can't be read.
    public static let journalUnreadable = Self(rawValue: "journal-unreadable")
    /// The journal has failed, and is opened anew.
    public static let journalFailed = Self(rawValue: "journal-failed")
    /// Outcomes that the application has not taken have reached their limit.
    public static let outcomesFull = Self(rawValue: "outcomes-full")
    /// It is not known whether this host still owns its journal.
    public static let ownershipUnproven = Self(rawValue: "ownership-unproven")
    /// The database that keeps the journal can't be reached.
    public static let databaseAway = Self(rawValue: "database-away")
    /// The database went back to before orders to all journals that this one has carried out.
    public static let ordersLost = Self(rawValue: "orders-lost")
    /// Something that a host does in the database fails, while it goes on otherwise.
    public static let databaseTrouble = Self(rawValue: "database-trouble")
    /// The database had lost commits of a journal, which were written back.
    public static let commitsLost = Self(rawValue: "commits-lost")
    /// A copy of a journal goes on where its database does not, and was set aside.
    public static let copySetAside = Self(rawValue: "copy-set-aside")
    /// Two servers of one cluster can be written to, or an old one is used.
    public static let oldPrimary = Self(rawValue: "old-primary")
    /// A host that reaches no push service leaves to other hosts what they could send in its place.
    public static let leftToOthers = Self(rawValue: "left-to-others")
    /// The wall clock has jumped, and expirations are ignored for a while.
    public static let clockDistrusted = Self(rawValue: "clock-distrusted")
    /// The blacklist is damaged.
    public static let blacklistDamaged = Self(rawValue: "blacklist-damaged")
    /// Entries' records can't be read.
    public static let entriesQuarantined = Self(rawValue: "entries-quarantined")
    /// A page of the journal is damaged, and entries can't be found.
    public static let entriesUnreachable = Self(rawValue: "entries-unreachable")
    /// The history of outcomes is damaged.
    public static let historyDamaged = Self(rawValue: "history-damaged")
    /// Notifications wait in a lane whose route the configuration does not have.
    public static let routeMissing = Self(rawValue: "route-missing")
    /// A webhook's receiver does not take outcomes.
    public static let webhookFailing = Self(rawValue: "webhook-failing")
    /// A certificate expires soon, or has expired.
    public static let certificateExpiring = Self(rawValue: "certificate-expiring")
    /// A key, a certificate or another file of secrets can't be used as it is now.
    public static let tokenKeyTrouble = Self(rawValue: "token-key-trouble")
    /// The configuration was read again, and is not taken up.
    public static let reloadRefused = Self(rawValue: "reload-refused")
    /// The process has too few descriptors.
    public static let descriptorsShort = Self(rawValue: "descriptors-short")

    /// All kinds of this version.
    public static let all: [Self] = [
        .serviceAway, .connectionsLimited, .sendingCarefully, .nothingTaken, .credentialsRefused, .wrongServer,
        .laneStopped,
        .lanePaused, .topicSetAside, .massBadTokens,
        .tagPaused, .throttled, .parked, .journalFull, .diskRefusing, .journalUnreadable, .journalFailed,
        .outcomesFull, .ownershipUnproven, .databaseAway, .databaseTrouble, .ordersLost, .commitsLost, .copySetAside,
        .oldPrimary, .leftToOthers, .clockDistrusted, .blacklistDamaged, .entriesQuarantined, .entriesUnreachable,
        .historyDamaged, .routeMissing, .webhookFailing, .certificateExpiring, .tokenKeyTrouble, .reloadRefused,
        .descriptorsShort,
    ]

    /// Whether nothing is taken because of it: ``HealthCondition/affected`` counts refusals, and not notifications that wait.
    package var countsRefusals: Bool { [.journalFull, .diskRefusing, .databaseAway].contains(self) }

    /// What is said when a condition of the kind is over; nil for the kind's word.
    var whenOver: String? {
        switch self {
        case .serviceAway: "the push service answers again"
        case .connectionsLimited: "connections are made again"
        case .sendingCarefully: "as many go at a time again as there is room for"
        case .nothingTaken: "the push service takes notifications again"
        case .credentialsRefused: "the credentials are not refused any more"
        case .wrongServer: "the push service itself answers again"
        case .laneStopped, .lanePaused: "the lane runs again"
        case .topicSetAside, .massBadTokens: "the topic holds nothing up any more"
        case .tagPaused: "the tag is resumed"
        case .throttled: "the service throttles nothing any more"
        case .parked: "new provider tokens are made again"
        case .journalFull: "the journal takes notifications again"
        case .diskRefusing: "the disk takes writes again"
        case .journalUnreadable: "the journal can be read again"
        case .journalFailed: "the journal is open again"
        case .outcomesFull: "outcomes are taken again"
        case .ownershipUnproven: "the journal is known to be this host's again"
        case .databaseAway: "the database answers again"
        case .databaseTrouble: "it is done again"
        case .oldPrimary: "one server alone can be written to, and it is used"
        case .leftToOthers: "this host takes submissions by SQL and journals of lost hosts again"
        case .clockDistrusted: "the wall clock is trusted again"
        case .routeMissing: "nothing waits for a missing route any more"
        case .webhookFailing: "the receiver takes outcomes again"
        case .certificateExpiring: "the certificate was renewed"
        case .tokenKeyTrouble: "the files of the credentials can be used again"
        case .reloadRefused: "the configuration is taken up"
        case .descriptorsShort: "descriptors are free again"
        default: nil
        }
    }
}
