/// When a deferred entry goes again: exponential backoff with full jitter, so that a thousand entries refused at once do
/// not come back at once.
///
/// A pure machine: the random number is an argument.
public struct RetrySchedule: Hashable, Sendable {
    /// The upper bound of the first delay. Default: 1 s.
    public var minimum: Duration
    /// The upper bound of every delay, and the most that a Retry-After is honoured for. Default: 15 min.
    public var maximum: Duration
    /// How often an entry may be deferred, or answered with nothing, before it is given up. Default: 100.
    public var greatestCount: Int

    public init(minimum: Duration = .seconds(1), maximum: Duration = .seconds(15 * 60), greatestCount: Int = 100) {
        self.minimum = minimum
        self.maximum = maximum
        self.greatestCount = greatestCount
    }

    /// - Parameters:
    ///   - attempt: 1 after the first answer "not now".
    ///   - retryAfter: what the service asked for: the least delay.
    ///   - random: uniformly from 0 up to, not including, 1.
    /// - Returns: between `minimum` / 2 (never a busy loop) and ``maximum``.
    package func delay(attempt: Int, retryAfter: Duration? = nil, random: Double) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        let bound = min(minimum * (1 << doublings), maximum)
        let jittered = max(bound * random, minimum / 2)
        guard let retryAfter, retryAfter > .zero else { return min(jittered, maximum) }
        return min(retryAfter + minimum * random, maximum)
    }
}
