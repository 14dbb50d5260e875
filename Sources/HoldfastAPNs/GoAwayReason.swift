internal import Holdfast
internal import HoldfastAPNsAnswers

/// The meaning of the JSON `reason` in a GOAWAY for requests that were not sent, or that the service has not processed. It
/// comes without a status, so only Apple's words are known, with the status that they have in answers.
struct GoAwayReason {
    private static let statuses: [String: Int] = [
        "MissingTopic": 400, "BadTopic": 400, "TopicDisallowed": 400, "IdleTimeout": 400, "BadCertificate": 403,
        "BadCertificateEnvironment": 403, "BadEnvironmentKeyIdInToken": 403, "BadEnvironmentKeyInToken": 403,
        "ExpiredProviderToken": 403, "Forbidden": 403, "InvalidProviderToken": 403, "MissingProviderToken": 403,
        "UnrelatedKeyIdInToken": 403, "TooManyProviderTokenUpdates": 429, "TooManyRequests": 429,
        "InternalServerError": 500, "ServiceUnavailable": 503, "Shutdown": 503,
    ]

    /// - Parameters:
    ///   - reason: nil where there is none.
    ///   - detail: for people.
    static func result(_ reason: String?, detail: String) -> SendResult {
        var result = SendResult(.neverProcessed(.newConnection), detail: detail)
        guard let reason else { return result }
        result.reason = Reason(rawValue: reason)
        guard let status = statuses[reason] else { return result }
        switch SendResult(apnsStatus: status, reason: reason).verdict {
        // Faults that an operator must mend, and waits for provider tokens: as in an answer.
        case .laneStopped(let cause): result.verdict = .laneStopped(cause)
        case .deferred(.credentials): result.verdict = .deferred(.credentials)
        // For any other reason: the requests were not processed, so no attempt is counted.
        default: break
        }
        return result
    }
}
