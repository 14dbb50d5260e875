internal import Holdfast
internal import HoldfastAPNsAnswers

/// A service that takes so many notifications a second, and refuses the others.
struct SimulatedQuota {
    private let limit: RateLimit
    private var tokens: Double
    private var filledAt: Duration
    private(set) var granted = 0
    private(set) var refused = 0

    init(_ limit: RateLimit, now: Duration) {
        self.limit = limit
        tokens = Double(limit.burst)
        filledAt = now
    }

    /// - Returns: nil for one that is taken; or when one would be.
    mutating func ask(now: Duration) -> Duration? {
        tokens = min(tokens + (now - filledAt) / .seconds(1) * limit.perSecond, Double(limit.burst))
        filledAt = now
        guard tokens < 1 else {
            tokens -= 1
            granted += 1
            return nil
        }
        refused += 1
        return .seconds((1 - tokens) / limit.perSecond)
    }
}

extension World {
    /// Nil when the quota lets a request through.
    func refusalByQuota() -> SendResult? {
        guard let wait = quota?.ask(now: now) else { return nil }
        happened(.quota)
        return SendResult(
            apnsStatus: 429, reason: "TooManyRequests",
            retryAfter: swarm.quotaSaysWhen ? .seconds((wait / .seconds(1)).rounded(.up)) : nil)
    }

    /// A service that throttles is not hammered: refusals stay within a factor of what it takes, and a number for each
    /// process and minute. A process that starts knows nothing of the quota; and where some refusals are taken for those of
    /// single devices, it takes ten in a row to show that others are not.
    func checkQuota() {
        guard let quota else { return }
        let minutes = Int((now - .seconds(1000)) / .seconds(60)) + 1
        let most =
            quota.granted / 2 + (life + routesAdded) * (swarm.engine.window + 20) * routes.count / 2 + minutes * 30
        if quota.refused > most {
            violate(
                9,
                "the service has refused \(quota.refused) requests for its quota and taken \(quota.granted); \(most) "
                    + "refusals are too many already")
        }
    }
}
