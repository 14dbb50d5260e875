/// A refusal in the push service's words. Can be written as a string: `["<token>": "Unregistered"]`.
public struct MockRejection: Hashable, Sendable, ExpressibleByStringLiteral {
    /// Apple's or Google's reason, or any other.
    public var reason: String
    /// The HTTP status.
    public var status: Int
    /// Unix milliseconds, for the body's `timestamp`. Default: none; a 410 then gets the time of the server's start.
    public var timestamp: Int64?
    /// The value of `retry-after`: seconds or an HTTP date. Default: none.
    public var retryAfter: String?
    /// What an error of FCM names in its details: `token`, `fid`, `topic` or `condition` as the malformed field, `device` or
    /// `topic` as the quota. Ignored for APNs. Default: none.
    public var subject: String?

    /// Creates a refusal.
    ///
    /// - Parameter status: default: the status in Apple's or Google's documentation of the reason, 400 for an unknown reason.
    public init(
        _ reason: String, status: Int? = nil, timestamp: Int64? = nil, retryAfter: String? = nil, subject: String? = nil
    ) {
        self.subject = subject
        self.reason = reason
        self.status = status ?? Self.statuses[reason] ?? Self.googleStatuses[reason] ?? 400
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    /// Creates a refusal with Apple's or Google's status for the reason.
    public init(stringLiteral reason: String) { self.init(reason) }

    /// Apple's tables (developer.apple.com: *Handling notification responses from APNs*, *Handling error responses from
    /// Apple Push Notification service* for broadcasts and channels). `Service Unavailable` is written with a space there.
    package static let statuses: [String: Int] = [
        "BadChannelId": 400, "BadCollapseId": 400, "BadDeviceToken": 400, "BadExpirationDate": 400, "BadMessageId": 400,
        "BadPriority": 400,
        "BadTopic": 400, "DeviceTokenNotForTopic": 400, "DuplicateHeaders": 400, "IdleTimeout": 400,
        "InvalidPushType": 400, "MissingDeviceToken": 400, "MissingPushType": 400, "MissingTopic": 400,
        "PayloadEmpty": 400, "TopicDisallowed": 400, "BadCertificate": 403, "BadCertificateEnvironment": 403,
        "BadEnvironmentKeyIdInToken": 403, "BadEnvironmentKeyInToken": 403, "ExpiredProviderToken": 403,
        "Forbidden": 403, "InvalidProviderToken": 403, "MissingProviderToken": 403, "UnrelatedKeyIdInToken": 403,
        "BadPath": 404, "MethodNotAllowed": 405, "ExpiredToken": 410, "Unregistered": 410, "PayloadTooLarge": 413,
        "TooManyProviderTokenUpdates": 429, "TooManyRequests": 429, "InternalServerError": 500,
        "BadRequest": 400, "CannotCreateChannelConfig": 400, "ChannelNotRegistered": 400, "FeatureNotEnabled": 400,
        "MissingChannelId": 400, "TopicMismatch": 400, "Service Unavailable": 503, "ServiceUnavailable": 503,
        "Shutdown": 503,
    ]

    /// Google's tables (firebase.google.com: *ErrorCode*; cloud.google.com: *Errors*, for words without an `FcmError`).
    package static let googleStatuses: [String: Int] = [
        "UNSPECIFIED_ERROR": 400, "INVALID_ARGUMENT": 400, "UNREGISTERED": 404, "SENDER_ID_MISMATCH": 403,
        "QUOTA_EXCEEDED": 429, "UNAVAILABLE": 503, "INTERNAL": 500, "THIRD_PARTY_AUTH_ERROR": 401,
        "UNAUTHENTICATED": 401,
        "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "RESOURCE_EXHAUSTED": 429, "FAILED_PRECONDITION": 400,
        "DEADLINE_EXCEEDED": 504,
    ]
}
