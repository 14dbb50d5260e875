package import HoldfastRequests

/// What a result means for outcomes.
extension PostResult {
    /// Whether the receiver may have taken the outcomes although it did not say so.
    var mayBeTaken: Bool {
        switch self {
        case .taken, .unclear: true
        // A receiver that fails while it works may have done the work, and a proxy says 502, 503 or 504 where the one behind
        // it died with the request in its hands.
        case .refused(let status, _): status >= 500
        case .notSent: false
        }
    }

    /// Whether the answer may be about an outcome of the request, and not about the receiver: such a request is halved, and
    /// an outcome that is refused alone may be passed over (``LoneRefusal``).
    var isAboutContent: Bool {
        guard case .refused(let status, _) = self else { return false }
        return [400, 409, 413, 422].contains(status)
    }

    /// The failure, for people; nil for none.
    package var fault: String? {
        switch self {
        case .taken: nil
        case .refused(let status, _) where (300..<400).contains(status):
            "it answered \(status), and redirects are not followed: give the new URL"
        case .refused(410, _):
            "it answered 410, so it wants no more: take the webhook out of the configuration, or mend the endpoint"
        case .refused(let status, _): "it answered \(status)"
        case .unclear(let words), .notSent(let words): words
        }
    }
}
