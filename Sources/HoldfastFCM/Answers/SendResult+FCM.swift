public import Holdfast

/// An answer of Firebase Cloud Messaging, as far as its meaning depends on it.
public struct FCMAnswer: Hashable, Sendable {
    /// The addressee or the quota that an error speaks of. More cases may come.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Subject: Hashable, Sendable {
        /// The message's target: a bad token, or the quota of a device or a topic.
        case target
        /// The message, the project or the service.
        case other
    }

    /// The HTTP status.
    public var status: Int
    /// The `errorCode` of the error's `FcmError`: `UNREGISTERED`. `nil` for none.
    public var errorCode: String?
    /// The `status` of the error: `NOT_FOUND`. `nil` for none: then the answer is not Google's.
    public var code: String?
    /// What the error's details speak of.
    public var subject: Subject
    /// The wait that Retry-After or the error's `RetryInfo` asks for.
    public var retryAfter: Duration?

    /// An answer with an error, or without one.
    public init(
        status: Int, errorCode: String? = nil, code: String? = nil, subject: Subject = .other,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.errorCode = errorCode
        self.code = code
        self.subject = subject
        self.retryAfter = retryAfter
    }
}

extension SendResult {
    /// The wait after a refusal for the whole project that names none (firebase.google.com, *ErrorCode*: at least a minute
    /// before the first repetition).
    public static let fcmQuotaWait = Duration.seconds(60)

    /// Classifies an answer of FCM's HTTP v1 interface.
    ///
    /// A pure function, by FcmError's `errorCode`, else by the error's `status`; unknown words by the HTTP status, and kept as
    /// they came. (firebase.google.com: *ErrorCode*, *FCM throttling and quotas*.)
    ///
    /// A 5xx may have been delivered, as Google says itself (firebase-admin-node #1248): `mayHaveBeenTaken`. A refusal without
    /// any of Google's words is another server's: `foreign`, but for 429 and 5xx, which ask for patience whoever sends them. So
    /// is one with 421, whatever it says.
    public init(fcm answer: FCMAnswer) {
        let word = (answer.errorCode ?? answer.code).flatMap { $0.isEmpty ? nil : Reason(said: $0) }
        self.init(
            Self.verdict(answer, word), status: answer.status, reason: word,
            retryAfter: answer.retryAfter)
        mayHaveBeenTaken = answer.status >= 500
        guard verdict == .deferred(.service) else { return }
        if word == nil { reason = .foreignAnswer }
        if answer.status == 429, retryAfter == nil { retryAfter = Self.fcmQuotaWait }
    }

    private static func verdict(_ answer: FCMAnswer, _ word: Reason?) -> Verdict {
        if answer.status == 200 { return .confirmed }
        // Misdirected (RFC 9110 section 15.5.20): by its own word not the service that was meant.
        if answer.status == 421 { return .foreign }
        // A service that is not well is not believed a word about the notification.
        guard (400..<500).contains(answer.status), let word else { return verdict(answer, isGoogles: word != nil) }
        let isAboutTarget = answer.subject == .target
        switch word {
        // Only as Google documents it (*ErrorCode*): with 404, by FcmError.
        case .fcmUnregistered where answer.status == 404 && answer.errorCode != nil: return .rejected(.token)
        case .fcmSenderIDMismatch: return .rejected(.suspectToken)
        case .fcmThirdPartyAuthError: return .rejected(.notification)
        case .fcmInvalidArgument where answer.status == 400:
            return isAboutTarget ? .rejected(.suspectToken) : .rejected(.notification)
        case .fcmQuotaExceeded: return isAboutTarget ? .deferred(.token) : .deferred(.service)
        default: return verdict(answer, isGoogles: true)
        }
    }

    /// By the HTTP status, for words that have no line of their own, and for none.
    private static func verdict(_ answer: FCMAnswer, isGoogles: Bool) -> Verdict {
        switch answer.status {
        case 429: answer.subject == .target ? .deferred(.token) : .deferred(.service)
        case 500...: .deferred(.service)
        case _ where !isGoogles: .foreign
        case 401: .neverProcessed(.newProviderToken)
        // The project is not there, or may not be used: nothing goes out until somebody mends that.
        case 403, 404: .laneStopped(.credentials)
        case 405: .rejected(.request)
        case 400..<500: .rejected(.notification)
        // Neither an answer of FCM nor an error.
        default: .foreign
        }
    }
}
