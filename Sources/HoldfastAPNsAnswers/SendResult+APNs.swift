public import Holdfast

extension SendResult {
    /// Classifies an answer of Apple's HTTP/2 interface.
    ///
    /// A pure function of status and reason, used by every connector that speaks to APNs, and by any sender of yours
    /// through `SenderConnector`. Reasons are those of Apple's page *Handling notification responses from APNs*. An unknown
    /// word is kept as it came, text that is no word becomes `Reason.other`, and both are classified by the status.
    ///
    /// Apple gives each error a reason, so an error without one is another server's: `foreign`, but for 429 and 5xx, which
    /// ask for patience whoever sends them: their reason is `ForeignAnswer`. So is one with 421, whatever it says.
    ///
    /// Behind a 5xx the service may have taken the notification (`mayHaveBeenTaken`), unless it is a 503 with a reason: with
    /// that Apple says that it processed nothing. A 500 says that something failed, not when.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - reason: the `reason` of the error body.
    ///   - timestamp: the `timestamp` of the error body (Apple sends milliseconds).
    ///   - retryAfter: the answer's Retry-After.
    public init(apnsStatus status: Int, reason: String? = nil, timestamp: WallTime? = nil, retryAfter: Duration? = nil)
    {
        let reason = reason.flatMap { $0.isEmpty ? nil : Reason(apns: $0) }
        self.init(
            Self.verdict(status: status, reason: reason, timestamp: timestamp), status: status, reason: reason,
            timestamp: timestamp,
            retryAfter: retryAfter)
        mayHaveBeenTaken = status >= 500 && (reason == nil || status != 503)
        if reason == nil, verdict == .deferred(.service) { self.reason = .foreignAnswer }
    }

    static func verdict(status: Int, reason: Reason?, timestamp: WallTime?) -> Verdict {
        if status == 200 { return .confirmed }
        // Misdirected (RFC 9110 section 15.5.20): by its own word not the service that was meant.
        if status == 421 { return .foreign }
        guard reason != nil else { return foreignVerdict(status: status) }
        switch (status, reason) {
        case (410, .unregistered?), (410, .expiredToken?):
            return .rejected(.token)
        // Apple's 410 says since when the token is gone. Another word for it is believed only with that time.
        case (410, _) where timestamp != nil:
            return .rejected(.token)
        case (400, .badDeviceToken?), (400, .deviceTokenNotForTopic?):
            return .rejected(.suspectToken)
        case (400, .missingTopic?), (400, .badTopic?), (400, .topicDisallowed?), (400, .topicMismatch?):
            return .laneStopped(.topic)
        case (400, .idleTimeout?), (503, .shutdown?):
            return .neverProcessed(.newConnection)
        case (403, .expiredProviderToken?):
            return .neverProcessed(.newProviderToken)
        case (403, .unrelatedKeyIDInToken?):
            return .neverProcessed(.newConnection)
        case (404, _), (405, _):
            return .rejected(.request)
        case (429, .tooManyProviderTokenUpdates?):
            return .deferred(.credentials)
        case (429, .tooManyRequests?):
            return .deferred(.token)
        default:
            return verdict(status: status)
        }
    }

    /// By the status alone, for reasons that have no line of their own.
    private static func verdict(status: Int) -> Verdict {
        switch status {
        case 403: .laneStopped(.credentials)
        case 429: .deferred(.token)
        case 400..<500: .rejected(.notification)
        case 500...: .deferred(.service)
        // Neither an answer of APNs nor an error.
        default: .foreign
        }
    }

    /// Of an answer that is not in Apple's form: a server in between may ask for patience, and may say nothing else.
    private static func foreignVerdict(status: Int) -> Verdict {
        status == 429 || status >= 500 ? .deferred(.service) : .foreign
    }
}
