/// Limits the notifications that a route sends, or a listener accepts, to a ``RateLimit``.
///
/// A pure machine: a token bucket that fills at the rate, up to the burst.
package struct RateLimiter: Sendable {
    package private(set) var limit: RateLimit
    private var tokens: Double
    private var filledAt: Duration?

    package init(_ limit: RateLimit) {
        self.limit = limit
        tokens = Double(limit.burst)
    }

    /// Keeps to another limit from now on. What was used of the former one counts on.
    mutating func change(to limit: RateLimit) {
        self.limit = limit
        tokens = min(tokens, Double(limit.burst))
    }

    /// The number of notifications that may be sent now.
    ///
    /// - Parameter now: by the monotonic clock.
    package mutating func allowance(now: Duration) -> Int {
        if let filledAt {
            let seconds = max((now - filledAt) / .seconds(1), 0)
            tokens = min(tokens + seconds * limit.perSecond, Double(limit.burst))
        }
        filledAt = max(now, filledAt ?? now)
        return max(Int(tokens), 0)
    }

    /// So many went out.
    package mutating func take(_ count: Int) { tokens -= Double(count) }

    /// So many that went out count no more.
    package mutating func giveBack(_ count: Int) { tokens = min(tokens + Double(count), Double(limit.burst)) }

    /// When so many may go out, at most the burst. No earlier than `now`.
    func next(_ count: Int, now: Duration) -> Duration {
        var copy = self
        guard copy.allowance(now: now) < count else { return now }
        // A little more than is needed, as in ``nextAllowance(now:)``.
        return now + .seconds((Double(count) - copy.tokens) / limit.perSecond) + .milliseconds(1)
    }

    /// When to ask again, if there is more to send than it allows: as soon as one more may go, but, where the rate is high,
    /// not more than a hundred times a second.
    package func nextAllowance(now: Duration) -> Duration {
        let wanted = min(max(limit.perSecond / 100, 1), Double(limit.burst))
        // A little more than is needed, so that rounding does not bring the caller back in vain.
        let seconds = max(wanted - tokens, 0) / limit.perSecond
        return (filledAt ?? now) + .seconds(seconds) + .milliseconds(1)
    }
}
