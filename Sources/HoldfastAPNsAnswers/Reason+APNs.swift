public import Holdfast

/// Apple's words (developer.apple.com: *Handling notification responses from APNs*), in its table's order. Words that
/// Holdfast says itself are in the module `Holdfast`.
extension Reason {
    public static let badMessageID = Reason(rawValue: "BadMessageId")
    public static let badPriority = Reason(rawValue: "BadPriority")
    public static let deviceTokenNotForTopic = Reason(rawValue: "DeviceTokenNotForTopic")
    public static let duplicateHeaders = Reason(rawValue: "DuplicateHeaders")
    public static let idleTimeout = Reason(rawValue: "IdleTimeout")
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
    public static let tooManyRequests = Reason(rawValue: "TooManyRequests")
    public static let internalServerError = Reason(rawValue: "InternalServerError")
    public static let shutdown = Reason(rawValue: "Shutdown")
}

/// Apple's words for broadcasts and channels that have none above (developer.apple.com: *Handling error responses from Apple
/// Push Notification service*).
extension Reason {
    public static let channelNotRegistered = Reason(rawValue: "ChannelNotRegistered")
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

extension Reason {
    /// Takes the reason that APNs gives: a word as it came, anything else as `Reason.other`.
    package init(apns text: String) {
        self = text == Self.channelServiceUnavailable.rawValue ? .channelServiceUnavailable : Reason(said: text)
    }
}
