public import Holdfast

/// Apple's words (developer.apple.com: *Handling notification responses from APNs*), in its table's order. Words that
/// Holdfast says itself are in the module `Holdfast`.
extension Reason {
    /// 400: the `apns-id` is no UUID.
    public static let badMessageID = Reason(rawValue: "BadMessageId")
    /// 400: the priority is none that APNs has, or not for this push type.
    public static let badPriority = Reason(rawValue: "BadPriority")
    /// 400: the token belongs to another app.
    public static let deviceTokenNotForTopic = Reason(rawValue: "DeviceTokenNotForTopic")
    /// 400: a header field came twice.
    public static let duplicateHeaders = Reason(rawValue: "DuplicateHeaders")
    /// 400: the connection idled too long. The request was not processed.
    public static let idleTimeout = Reason(rawValue: "IdleTimeout")
    /// 403: the client certificate is not accepted.
    public static let badCertificate = Reason(rawValue: "BadCertificate")
    /// 403: the client certificate is for the other environment.
    public static let badCertificateEnvironment = Reason(rawValue: "BadCertificateEnvironment")
    /// 403: the provider token is older than an hour.
    public static let expiredProviderToken = Reason(rawValue: "ExpiredProviderToken")
    /// 403: the action is not allowed.
    public static let forbidden = Reason(rawValue: "Forbidden")
    /// 403: the provider token is invalid, or could not be verified.
    public static let invalidProviderToken = Reason(rawValue: "InvalidProviderToken")
    /// 403: there is neither a client certificate nor a provider token.
    public static let missingProviderToken = Reason(rawValue: "MissingProviderToken")
    /// 403: the provider token is of another key than the connection's first.
    public static let unrelatedKeyIDInToken = Reason(rawValue: "UnrelatedKeyIdInToken")
    /// 404: the `:path` is wrong.
    public static let badPath = Reason(rawValue: "BadPath")
    /// 405: the `:method` is not POST.
    public static let methodNotAllowed = Reason(rawValue: "MethodNotAllowed")
    /// 410: the device token has expired.
    public static let expiredToken = Reason(rawValue: "ExpiredToken")
    /// 410: the device token is not active for the topic.
    public static let unregistered = Reason(rawValue: "Unregistered")
    /// 429: too many requests for one device token.
    public static let tooManyRequests = Reason(rawValue: "TooManyRequests")
    /// 500: an error of the service.
    public static let internalServerError = Reason(rawValue: "InternalServerError")
    /// 503: the service is shutting down. The request was not processed.
    public static let shutdown = Reason(rawValue: "Shutdown")
}

/// Apple's words for broadcasts and channels that have none above (developer.apple.com: *Handling error responses from Apple
/// Push Notification service*).
extension Reason {
    /// 400: the channel does not exist.
    public static let channelNotRegistered = Reason(rawValue: "ChannelNotRegistered")
    /// 400: the app has as many channels as it may have.
    public static let cannotCreateChannelConfig = Reason(rawValue: "CannotCreateChannelConfig")
    /// 400: the app has no broadcast capability.
    public static let featureNotEnabled = Reason(rawValue: "FeatureNotEnabled")
    /// 400: the credentials are not for the bundle id.
    public static let topicMismatch = Reason(rawValue: "TopicMismatch")
    /// 400: there is no push type.
    public static let missingPushType = Reason(rawValue: "MissingPushType")
    /// 503: Apple writes it with a space here.
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
