/// When a deferred entry goes again: exponential backoff with full jitter, so that a thousand entries refused at once do
/// not come back at once.
///
/// A pure machine: the random number is an argument.
public struct RetrySchedule: Hashable, Sendable {
    /// The upper bound of the first delay. Default: 1 s.
    public var minimum: Duration
    /// The upper bound of every delay, and the most that a Retry-After is honoured for. Default: 15 min.
    public var maximum: Duration
    /// How often the upper bound doubles at most. Default: 10, which with the other defaults is up to ``maximum``.
    public var greatestDoublings: Int
    /// How often an entry may be deferred, or answered with nothing, before it is given up: rejected as `TooManyAttempts`,
    /// or *unknown* when an attempt may have been taken. Default: 100.
    public var greatestCount: Int
    /// How long after its acceptance an entry may be deferred once more. Default: 3 days.
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
