/// Why a notification was refused or rejected: a word of Apple's where there is one, kept as it came.
public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}

/// Apple's words (developer.apple.com: *Handling notification responses from APNs*), in its table's order.
extension Reason {
    public static let badCollapseID = Reason(rawValue: "BadCollapseId")
    public static let badDeviceToken = Reason(rawValue: "BadDeviceToken")
    public static let badExpirationDate = Reason(rawValue: "BadExpirationDate")
    public static let badMessageID = Reason(rawValue: "BadMessageId")
    public static let badPriority = Reason(rawValue: "BadPriority")
    public static let badTopic = Reason(rawValue: "BadTopic")
    public static let deviceTokenNotForTopic = Reason(rawValue: "DeviceTokenNotForTopic")
    public static let duplicateHeaders = Reason(rawValue: "DuplicateHeaders")
    public static let idleTimeout = Reason(rawValue: "IdleTimeout")
    public static let invalidPushType = Reason(rawValue: "InvalidPushType")
    public static let missingDeviceToken = Reason(rawValue: "MissingDeviceToken")
    public static let missingTopic = Reason(rawValue: "MissingTopic")
    public static let payloadEmpty = Reason(rawValue: "PayloadEmpty")
    public static let topicDisallowed = Reason(rawValue: "TopicDisallowed")
    public static let badCertificate = Reason(rawValue: "BadCertificate")
    public static let badCertificateEnvironment = Reason(rawValue: "BadCertificateEnvironment")
    public static let expiredProviderToken = Reason(rawValue: "ExpiredProviderToken")
    public static let forbidden = Reason(rawValue: "Forbidden")
    public static let invalidProviderToken = Reason(rawValue: "InvalidProviderToken")
    public static let missingProviderToken = Reason(rawValue: "MissingProviderToken")
    public static let unrelatedKeyIDInToken = Reason(rawValue: "UnrelatedKeyIdInToken")
    public static let badPath = Reason(rawValue: "BadPath")
    public static let methodNotAllowed = Reason(rawValue: "MethodNotAllowed")
    public static let expiredToken = Reason(rawValue: "ExpiredToken")
    public static let unregistered = Reason(rawValue: "Unregistered")
    public static let payloadTooLarge = Reason(rawValue: "PayloadTooLarge")
    public static let tooManyProviderTokenUpdates = Reason(rawValue: "TooManyProviderTokenUpdates")
    public static let tooManyRequests = Reason(rawValue: "TooManyRequests")
    public static let internalServerError = Reason(rawValue: "InternalServerError")
    public static let serviceUnavailable = Reason(rawValue: "ServiceUnavailable")
    public static let shutdown = Reason(rawValue: "Shutdown")
}

/// Apple's words for broadcasts and channels that have none above (developer.apple.com: *Handling error responses from Apple
/// Push Notification service*).
extension Reason {
    public static let badChannelID = Reason(rawValue: "BadChannelId")
    public static let channelNotRegistered = Reason(rawValue: "ChannelNotRegistered")
    public static let missingChannelID = Reason(rawValue: "MissingChannelId")
    public static let cannotCreateChannelConfig = Reason(rawValue: "CannotCreateChannelConfig")
    public static let featureNotEnabled = Reason(rawValue: "FeatureNotEnabled")
    public static let topicMismatch = Reason(rawValue: "TopicMismatch")
    public static let missingPushType = Reason(rawValue: "MissingPushType")
    /// Apple writes it with a space here.
    public static let channelServiceUnavailable = Reason(rawValue: "Service Unavailable")
}

/// Apple's words for the statuses of the binary protocol that have none above (*Local and Remote Notification Programming
/// Guide: Binary Provider API*, table of error codes).
extension Reason {
    /// Status 1.
    public static let processingError = Reason(rawValue: "ProcessingError")
    /// Status 4.
    public static let missingPayload = Reason(rawValue: "MissingPayload")
    /// Status 5.
    public static let invalidTokenSize = Reason(rawValue: "InvalidTokenSize")
    /// Status 6.
    public static let invalidTopicSize = Reason(rawValue: "InvalidTopicSize")
    /// Status 7.
    public static let invalidPayloadSize = Reason(rawValue: "InvalidPayloadSize")
    /// Status 8.
    public static let invalidToken = Reason(rawValue: "InvalidToken")
    /// Status 128, which Apple never documented.
    public static let invalidFrameItem = Reason(rawValue: "InvalidFrameItem")
    /// Status 255.
    public static let unknownError = Reason(rawValue: "UnknownError")
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
    /// The route's connector can't send broadcasts: only Apple's HTTP/2 interface has them.
    public static let broadcastUnsupported = Reason(rawValue: "BroadcastUnsupported")
    /// The route's service takes no recipients of this kind.
    public static let recipientUnsupported = Reason(rawValue: "RecipientUnsupported")
    /// The address at a service other than Apple's is none.
    public static let badAddress = Reason(rawValue: "BadAddress")
    /// The payload is not in a form that the route's service takes.
    public static let payloadUnsupported = Reason(rawValue: "PayloadUnsupported")
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
    /// The service refuses its topic, which is tried with another entry.
    public static let topicSetAside = Reason(rawValue: "TopicSetAside")
    /// The connections that it went out on ended, each time, while others were taken.
    public static let endsConnections = Reason(rawValue: "EndsConnections")
    /// The clock cannot be believed that it has expired.
    public static let clockDistrusted = Reason(rawValue: "ClockDistrusted")
    /// The Producer's name is not 1 to 64 bytes, or one too many for the journal.
    public static let badProducerName = Reason(rawValue: "BadProducerName")
    /// The journal has reached its limit; nothing was taken. Try again when it has drained.
    public static let journalFull = Reason(rawValue: "JournalFull")
    /// The journal could not be written; nothing was taken. The detail names the cause.
    public static let journalFailed = Reason(rawValue: "JournalFailed")
    /// The engine is shutting down; nothing was taken.
    public static let shuttingDown = Reason(rawValue: "ShuttingDown")
}
