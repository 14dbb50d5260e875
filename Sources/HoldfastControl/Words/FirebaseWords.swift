internal import Holdfast

/// The meaning of the words of Firebase Cloud Messaging (firebase.google.com: *ErrorCode*; `google.rpc.Code`).
enum FirebaseWords {
    static let guides: [Reason: ReasonGuide] = [
        "UNREGISTERED": ReasonGuide(
            "the app is not registered under this token or installation id any more; FCM sometimes says it of ones that "
                + "live, so it is forgotten after 30 days", ReasonGuide.unregisteredAdvice),
        "INVALID_ARGUMENT": ReasonGuide(
            "the message, or its target, is not as FCM takes it", ReasonGuide.mendAndSubmit),
        "SENDER_ID_MISMATCH": ReasonGuide(
            "the token was made for another Firebase project",
            "see that `project` is that of the app; if it is, delete the token where your tokens are kept"),
        "QUOTA_EXCEEDED": ReasonGuide(
            "more was sent than the quota of the project, of the device or of the topic allows",
            "it goes again by itself; if it stays so, lower the route's rate, or ask Google for more"),
        "THIRD_PARTY_AUTH_ERROR": ReasonGuide(
            "the project has no good credentials for Apple's devices, or for web push",
            "upload the APNs key or the web push certificate in the Firebase console, then retry it"),
        "UNAVAILABLE": ReasonGuide("the service was overloaded, and may have taken it", ReasonGuide.notYours),
        "INTERNAL": ReasonGuide("the service failed, and may have taken it", ReasonGuide.notYours),
        "UNAUTHENTICATED": ReasonGuide(
            "the access token is not valid",
            "see to the service account and to this machine's clock, then resume the lane"),
        "PERMISSION_DENIED": ReasonGuide(
            "the service account may not send for this project, or its Firebase Cloud Messaging API is off",
            "enable the API, or give the account the role Firebase Cloud Messaging API Admin, then resume the lane"),
        "NOT_FOUND": ReasonGuide(
            "there is no such Firebase project", "see to the route's `project`, then resume the lane"),
        "RESOURCE_EXHAUSTED": ReasonGuide(
            "a quota of Google's is used up", "it goes again by itself; if it stays so, lower the route's rate"),
    ].reduce(into: [:]) { $0[Reason(rawValue: $1.key)] = $1.value }
}
