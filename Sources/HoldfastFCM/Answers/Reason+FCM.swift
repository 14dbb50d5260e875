public import Holdfast

/// Words of Firebase Cloud Messaging (the enumeration `FcmError.ErrorCode`, firebase.google.com: *ErrorCode*), and those words
/// of Google's interfaces (`google.rpc.Code`) that stand where there is none.
extension Reason {
    /// 404: the app is no longer registered under this token or installation id. It is sometimes said of ones that live.
    public static let fcmUnregistered = Reason(rawValue: "UNREGISTERED")
    /// 400: the message or its target is malformed.
    public static let fcmInvalidArgument = Reason(rawValue: "INVALID_ARGUMENT")
    /// 403: the token was made for another sender.
    public static let fcmSenderIDMismatch = Reason(rawValue: "SENDER_ID_MISMATCH")
    /// 429: more than the quota of a project, a device or a topic.
    public static let fcmQuotaExceeded = Reason(rawValue: "QUOTA_EXCEEDED")
    /// 401: the project's credentials for APNs or web push are missing or wrong.
    public static let fcmThirdPartyAuthError = Reason(rawValue: "THIRD_PARTY_AUTH_ERROR")
    /// 503: the service is overloaded. It may have taken the message.
    public static let fcmUnavailable = Reason(rawValue: "UNAVAILABLE")
    /// 500: an error of the service.
    public static let fcmInternal = Reason(rawValue: "INTERNAL")
    /// 401: the access token is missing, expired or invalid.
    public static let fcmUnauthenticated = Reason(rawValue: "UNAUTHENTICATED")
    /// 403: the service account may not send for the project, or the interface is not enabled.
    public static let fcmPermissionDenied = Reason(rawValue: "PERMISSION_DENIED")
    /// 404: there is no such project.
    public static let fcmNotFound = Reason(rawValue: "NOT_FOUND")
}
