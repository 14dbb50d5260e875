internal import Holdfast

/// How many notifications the connections of a listener may bring together.
final class SharedRate: Sendable {
    private let limiter: Monitor<(limit: RateLimit, limiter: RateLimiter)?>
    private let clock = EngineClock.system

    /// - Parameter limit: nil for any number.
    init(_ limit: RateLimit?) { limiter = Monitor(limit.map { ($0, RateLimiter($0)) }) }

    /// A limit that is what it was goes on as it is.
    func change(to limit: RateLimit?) {
        limiter.withLock { state in
            guard state?.limit != limit else { return }
            state = limit.map { ($0, RateLimiter($0)) }
        }
    }

    /// Takes as many of `count` as may go.
    ///
    /// - Returns: how many, and after how many seconds the others may come again.
    func take(_ count: Int) -> (granted: Int, retryAfter: Int) {
        guard count > 0 else { return (0, 1) }
        let now = clock.monotonic()
        return limiter.withLock { state in
            guard state != nil else { return (count, 1) }
            let granted = min(state?.limiter.allowance(now: now) ?? count, count)
            state?.limiter.take(granted)
            let next = state?.limiter.nextAllowance(now: now) ?? now
            return (granted, max(Int(((next - now) / .seconds(1)).rounded(.up)), 1))
        }
    }
    /// How many may be read now, for protocols that refuse nothing and stop reading instead; ``took(_:)`` says how many
    /// were. When there are none, after what pause to ask again.
    func allowance() -> (count: Int, pause: Duration?) {
        let now = clock.monotonic()
        return limiter.withLock { state in
            guard let count = state?.limiter.allowance(now: now) else { return (.max, nil) }
            guard count == 0, let next = state?.limiter.nextAllowance(now: now) else { return (count, nil) }
            return (0, next - now)
        }
    }

    func took(_ count: Int) { limiter.withLock { $0?.limiter.take(count) } }
}
