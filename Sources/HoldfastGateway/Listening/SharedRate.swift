internal import Holdfast

/// The rate limit that connections of a listener share.
final class SharedRate: Sendable {
    /// nil for no limit.
    private let limiter: Monitor<RateLimiter?>
    private let clock = EngineClock.system

    /// - Parameter limit: nil for any number.
    init(_ limit: RateLimit?) { limiter = Monitor(limit.map(RateLimiter.init)) }

    var limit: RateLimit? { limiter.withLock { $0?.limit } }

    /// An unchanged limit keeps its state.
    func change(to limit: RateLimit?) {
        limiter.withLock { limiter in
            guard limiter?.limit != limit else { return }
            limiter = limit.map(RateLimiter.init)
        }
    }

    /// Takes as many of `count` as may go.
    ///
    /// - Returns: how many, and after how many seconds the others may come again.
    func take(_ count: Int) -> (granted: Int, retryAfter: Int) {
        let (granted, pause) =
            withLimiter { limiter, now in
                let granted = min(limiter.allowance(now: now), count)
                limiter.take(granted)
                return (granted, limiter.nextAllowance(now: now) - now)
            } ?? (count, .zero)
        return (granted, max(Int((pause / .seconds(1)).rounded(.up)), 1))
    }

    /// The number that may be read now, for protocols that refuse nothing and stop reading instead; report the number
    /// read with ``took(_:)``. For none, the pause before the next call.
    func allowance() -> (count: Int, pause: Duration?) {
        withLimiter { limiter, now in
            let count = limiter.allowance(now: now)
            return (count, count == 0 ? limiter.nextAllowance(now: now) - now : nil)
        } ?? (.max, nil)
    }

    func took(_ count: Int) { limiter.withLock { $0?.take(count) } }

    /// - Returns: nil where there is no limit.
    private func withLimiter<R>(_ body: (inout RateLimiter, Duration) -> R) -> R? {
        let now = clock.monotonic()
        return limiter.withLock { limiter in
            guard var changed = limiter else { return nil }
            defer { limiter = changed }
            return body(&changed, now)
        }
    }
}
