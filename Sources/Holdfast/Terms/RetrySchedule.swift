/// When a deferred entry is sent again: exponential backoff with full jitter, so that a thousand entries that were refused
/// together do not come back together.
///
/// A pure machine: the random number is an argument.
public struct RetrySchedule: Hashable, Sendable {
    /// The upper bound of the first delay. Default: 1 s.
    public var minimum: Duration
    /// The upper bound of every delay, and the longest `Retry-After` that is respected. Default: 15 min.
    public var maximum: Duration
    /// The most doublings of the upper bound. Default: 10, which with the other defaults reaches ``maximum``.
    public var greatestDoublings: Int
    /// The most attempts without a final answer. Then the entry is rejected as `TooManyAttempts`, or is *unknown* if an attempt
    /// may have been taken. Default: 100.
    public var greatestCount: Int
    /// The age since acceptance from which an entry is not deferred any more. Default: 3 days.
    public var greatestAge: Duration

    /// Creates a schedule; without arguments, the default one.
    public init(
        minimum: Duration = .seconds(1), maximum: Duration = .seconds(15 * 60), greatestDoublings: Int = 10,
        greatestCount: Int = 100, greatestAge: Duration = .seconds(3 * 24 * 60 * 60)
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.greatestDoublings = greatestDoublings
        self.greatestCount = greatestCount
        self.greatestAge = greatestAge
    }

    /// Whether one more attempt is too many.
    ///
    /// - Parameters:
    ///   - attempts: those that came to nothing, the last one included.
    ///   - age: since acceptance.
    package func isExhausted(attempts: Int, age: Duration) -> Bool { attempts >= greatestCount || age > greatestAge }

    /// - Parameters:
    ///   - attempt: 1 after the first answer "not now".
    ///   - retryAfter: what the service asked for: the least delay.
    ///   - random: uniformly from 0 up to, not including, 1.
    /// - Returns: between `minimum` / 2 (never a busy loop) and ``maximum``.
    package func delay(attempt: Int, retryAfter: Duration? = nil, random: Double) -> Duration {
        let doublings = min(max(attempt - 1, 0), greatestDoublings, 30)
        let bound = min(minimum * (1 << doublings), maximum)
        let jittered = max(bound * random, minimum / 2)
        guard let retryAfter, retryAfter > .zero else { return min(jittered, maximum) }
        return min(retryAfter + minimum * random, maximum)
    }
}
