/// Limits the notifications that a route sends, or a listener accepts, to a ``RateLimit``.
///
/// A pure machine: a token bucket that fills at the rate, up to the burst. With a ramp, the rate rises while the bucket has room,
/// that is while what it brings is used, and falls while it is full.
package struct RateLimiter: Sendable {
    package private(set) var limit: RateLimit
    private var tokens: Double
    private var filledAt: Duration?
    /// The part of the rate that has been reached.
    private var reached: Double

    package init(_ limit: RateLimit) {
        self.limit = limit
        reached = limit.rampUp == nil ? 1 : RateLimit.rampStart
        tokens = max(Double(limit.burst) * reached, 1)
    }

    /// Notifications a second at present.
    private var rate: Double { limit.perSecond * reached }
    /// The most at once at present; at least 1, and, of a small burst, what the rate brings between two looks, so that a ramp is
    /// not taken for unused.
    private var burst: Double { max(Double(limit.burst) * reached, min(Double(limit.burst), rate / 25), 1) }

    /// Keeps to another limit from now on. What was used of the former one counts on.
    mutating func change(to limit: RateLimit) {
        self.limit = limit
        if limit.rampUp == nil { reached = 1 }
        tokens = min(tokens, burst)
    }

    /// The number of notifications that may be sent now.
    ///
    /// - Parameter now: by the monotonic clock.
    package mutating func allowance(now: Duration) -> Int {
        if let filledAt { fill(for: max((now - filledAt) / .seconds(1), 0)) }
        filledAt = max(now, filledAt ?? now)
        return max(Int(tokens), 0)
    }

    private mutating func fill(for seconds: Double) {
        let room = burst - tokens
        let timeWithRoom = min(max(room, 0) / rate, seconds)
        tokens = min(tokens + seconds * rate, burst)
        guard let rampUp = limit.rampUp else { return }
        let surplus = timeWithRoom - (seconds - timeWithRoom)
        let rise = (1 - RateLimit.rampStart) * surplus / (rampUp / .seconds(1))
        reached = min(max(reached + rise, RateLimit.rampStart), 1)
    }

    /// So many went out.
    package mutating func take(_ count: Int) { tokens -= Double(count) }

    /// So many that went out count no more.
    package mutating func giveBack(_ count: Int) { tokens = min(tokens + Double(count), burst) }

    /// When so many may go out, at most the burst. No earlier than `now`.
    func next(_ count: Int, now: Duration) -> Duration {
        var copy = self
        guard copy.allowance(now: now) < count else { return now }
        // A little more than is needed, as in ``nextAllowance(now:)``.
        return now + .seconds((Double(count) - copy.tokens) / copy.rate) + .milliseconds(1)
    }

    /// When to ask again, if there is more to send than it allows: as soon as one more may go, but, where the rate is high,
    /// not more than a hundred times a second.
    package func nextAllowance(now: Duration) -> Duration {
        let wanted = min(max(rate / 100, 1), burst)
        // A little more than is needed, so that rounding does not bring the caller back in vain.
        let seconds = max(wanted - tokens, 0) / rate
        return (filledAt ?? now) + .seconds(seconds) + .milliseconds(1)
    }
}
