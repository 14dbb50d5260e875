/// Why a notification was refused or rejected: a word of Apple's where there is one, kept as it came.
public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word, such as `BadDeviceToken`.
    public let rawValue: String
    /// Creates a reason from any word, also from one that has no constant.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word.
    public var description: String { rawValue }
}

/// Words of Apple's that Holdfast itself says, when it refuses before sending what APNs would refuse (developer.apple.com:
/// *Handling notification responses from APNs*). Apple's other words are in the module `HoldfastAPNsAnswers`.
extension Reason {
    /// The collapse id is too long, or is no header value.
    public static let badCollapseID = Reason(rawValue: "BadCollapseId")
    /// The device token is malformed.
    public static let badDeviceToken = Reason(rawValue: "BadDeviceToken")
    /// The expiration is past.
    public static let badExpirationDate = Reason(rawValue: "BadExpirationDate")
    /// The topic is malformed.
    public static let badTopic = Reason(rawValue: "BadTopic")
    /// The push type is unknown, or not for this recipient.
    public static let invalidPushType = Reason(rawValue: "InvalidPushType")
    /// There is no device token.
    public static let missingDeviceToken = Reason(rawValue: "MissingDeviceToken")
    /// There is no topic, and no route to choose one by.
    public static let missingTopic = Reason(rawValue: "MissingTopic")
    /// There is no payload.
    public static let payloadEmpty = Reason(rawValue: "PayloadEmpty")
    /// No route, or not the route's certificate, is for the topic.
    public static let topicDisallowed = Reason(rawValue: "TopicDisallowed")
    /// The payload is longer than the route's limit.
    public static let payloadTooLarge = Reason(rawValue: "PayloadTooLarge")
    /// The channel id is malformed.
    public static let badChannelID = Reason(rawValue: "BadChannelId")
    /// There is no channel id.
    public static let missingChannelID = Reason(rawValue: "MissingChannelId")
    /// The service refused for now, and gave no reason.
    public static let serviceUnavailable = Reason(rawValue: "ServiceUnavailable")
    /// The service wants no new credentials for now: nothing is sent meanwhile.
    public static let tooManyProviderTokenUpdates = Reason(rawValue: "TooManyProviderTokenUpdates")
}

/// Words of our own, where Apple has none.
extension Reason {
    /// The service gave a reason that has not the form of a word. It is not kept: it may hold a token, a payload or a
    /// credential.
    public static let other = Reason(rawValue: "other")
    /// The payload is not one JSON object in UTF-8.
    public static let payloadNotJSON = Reason(rawValue: "PayloadNotJSON")
    /// The tag is longer than 256 bytes.
    public static let tagTooLong = Reason(rawValue: "TagTooLong")
    /// The context is longer than 4096 bytes.
    public static let contextTooLong = Reason(rawValue: "ContextTooLong")
    /// The notification would expire before it may be delivered.
    public static let badDeliveryTime = Reason(rawValue: "BadDeliverAfter")
    /// The hours of the day, or their time zone, are malformed; or they begin only after the notification expires.
    public static let badDeliveryHours = Reason(rawValue: "BadDeliverWithin")
    /// The time at which the token was registered is no time, or more than a day ahead.
    public static let badRegistrationTime = Reason(rawValue: "BadTokenRegistrationTime")
    /// The newest is to win, but without a collapse id nothing says among which notifications.
    public static let newestWinsUnsupported = Reason(rawValue: "BadNewestWins")
    /// The route's connector can't send broadcasts: only Apple's HTTP/2 interface has them.
    public static let broadcastUnsupported = Reason(rawValue: "BroadcastUnsupported")
    /// The route's service takes no recipients of this kind.
    public static let recipientUnsupported = Reason(rawValue: "RecipientUnsupported")
    /// The address at a service other than Apple's is none.
    public static let badAddress = Reason(rawValue: "BadAddress")
    /// The payload is not in a form that the route's service takes.
    public static let payloadUnsupported = Reason(rawValue: "PayloadUnsupported")
    /// Routes serve the topic, but none in the environment that was asked for.
    public static let environmentNotServed = Reason(rawValue: "EnvironmentNotServed")
    /// The token is on the blacklist.
    public static let blacklisted = Reason(rawValue: "Blacklisted")
    /// The blacklist has a record of the token that cannot be read: it waits until that is mended.
    public static let blacklistUnreadable = Reason(rawValue: "BlacklistUnreadable")
    /// It was over before it could be sent.
    public static let expired = Reason(rawValue: "Expired")
    /// It was deferred as often, or for as long, as the retry settings allow.
    public static let tooManyAttempts = Reason(rawValue: "TooManyAttempts")
    /// It was handed to a connection that provably did not process it.
    public static let neverProcessed = Reason(rawValue: "NeverProcessed")
    /// The connection or the deadline ended before an answer came: it may have been sent.
    public static let noAnswer = Reason(rawValue: "NoAnswer")
    /// The feedback service named the token: why it is on the blacklist.
    public static let feedback = Reason(rawValue: "Feedback")
    /// It was answered, but not by the push service: it waits.
    public static let foreignAnswer = Reason(rawValue: "ForeignAnswer")
    /// Its token was called bad, and that is not judged yet.
    public static let suspectToken = Reason(rawValue: "SuspectToken")
    /// It was taken back while it was in flight, or after it may have been sent: its outcome is *unknown*.
    public static let withdrawn = Reason(rawValue: "Withdrawn")
    /// The service refuses its topic, which is tried with another entry.
    public static let topicSetAside = Reason(rawValue: "TopicSetAside")
    /// An operator has paused its tag.
    public static let tagPaused = Reason(rawValue: "TagPaused")
    /// The connections that it went out on ended, each time, while others were taken.
    public static let endsConnections = Reason(rawValue: "EndsConnections")
    /// The clock cannot be believed that it has expired.
    public static let clockDistrusted = Reason(rawValue: "ClockDistrusted")
    /// It may not be delivered yet: before its time, or outside of its hours of the day.
    public static let scheduled = Reason(rawValue: "Scheduled")
    /// The Producer's name is not 1 to 64 bytes, or one too many for the journal.
    public static let badProducerName = Reason(rawValue: "BadProducerName")
    /// The journal has reached its limit; nothing was taken. Try again when it has drained.
    public static let journalFull = Reason(rawValue: "JournalFull")
    /// What keeps the journal, such as a database, can't be reached; nothing was taken. Try again later.
    public static let journalUnreachable = Reason(rawValue: "JournalUnreachable")
    /// The journal could not be written; nothing was taken. The detail names the cause.
    public static let journalFailed = Reason(rawValue: "JournalFailed")
    /// The engine is shutting down; nothing was taken.
    public static let shuttingDown = Reason(rawValue: "ShuttingDown")
}
