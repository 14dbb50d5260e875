internal import HoldfastHTTP2

/// Decides after an attempt about another one: whether it can do harm, and whether it can help.
///
/// A pure machine.
struct ChannelAttempts {
    /// The ending of an attempt.
    enum Ending: Sendable {
        case answered(HTTP2Response)
        /// Nothing has happened.
        ///
        /// - isLasting: trying again will not help.
        case neverSent(String, isLasting: Bool)
        /// It may have been done.
        case unknown(String)
    }

    enum Next {
        case succeed(HTTP2Response)
        case fail
        /// On another connection, unless it is the token that was expired.
        case again(after: Duration, isTokenExpired: Bool)
    }

    /// The limit on attempts.
    static let limit = 3
    /// The wait before the second attempt. Before the third it is four times as long.
    static let pause = Duration.milliseconds(100)

    private let isRepeatable: Bool
    private var count = 0
    private var hasReplacedToken = false

    /// - Parameter isRepeatable: whether it does no harm if it is done twice.
    init(isRepeatable: Bool) { self.isRepeatable = isRepeatable }

    /// Whether the service says that it has not looked at the request, and another connection may.
    private static let unlookedAt: Set<String> = ["IdleTimeout", "Shutdown"]

    mutating func next(after ending: Ending) -> Next {
        count += 1
        switch ending {
        case .answered(let response) where (200..<300).contains(response.status):
            return .succeed(response)
        case .answered(let response):
            let reason = response.reason
            if reason == "ExpiredProviderToken", !hasReplacedToken {
                hasReplacedToken = true
                return .again(after: .zero, isTokenExpired: true)
            }
            return reason.map(Self.unlookedAt.contains) == true ? again() : .fail
        case .neverSent(_, let isLasting):
            return isLasting ? .fail : again()
        case .unknown:
            return isRepeatable ? again() : .fail
        }
    }

    private func again() -> Next {
        guard count < Self.limit else { return .fail }
        return .again(after: count == 1 ? Self.pause : Self.pause * 4, isTokenExpired: false)
    }
}
