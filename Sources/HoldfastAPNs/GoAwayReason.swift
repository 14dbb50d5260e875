internal import Holdfast
internal import HoldfastAPNsAnswers

/// What the JSON `reason` of a GOAWAY means for what the connection has not sent, or what the service says it has not
/// looked at. It comes without a status, so only words that Apple has are known here, by the status they have in answers.
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
        // What somebody must mend, or what has to wait for provider tokens: the same as in an answer.
        case .laneStopped(let cause): result.verdict = .laneStopped(cause)
        case .deferred(.credentials): result.verdict = .deferred(.credentials)
        // Whatever else it says, these were not looked at: no attempt is counted.
        default: break
        }
        return result
    }
}
