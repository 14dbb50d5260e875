/// The rate limits of routes, by the routes' names: one bucket for all engines of a process, which holds the part of this
/// host where hosts divide the limits.
///
/// What one engine does not use is there for the others. Two that take at one instant may take the same, and then both wait
/// until that is made up for.
package final class SharedRates: Sendable {
    private struct Bucket: Sendable {
        /// The limit of all hosts together.
        let whole: RateLimit
        var limiter: RateLimiter
    }

    private struct State: Sendable {
        var hosts: Int
        var buckets: [String: Bucket] = [:]
    }

    private let state: Monitor<State>

    /// - Parameter hosts: how many divide each limit.
    package init(hosts: Int = 1) { state = Monitor(State(hosts: max(hosts, 1))) }

    /// How many hosts divide each limit.
    package var hosts: Int { state.withLock(\.hosts) }

    /// Divides each limit among so many hosts from now on. What was used of it counts on.
    package func divide(among hosts: Int) {
        let hosts = max(hosts, 1)
        state.withLock { state in
            state.hosts = hosts
            for name in state.buckets.keys {
                guard let whole = state.buckets[name]?.whole else { continue }
                state.buckets[name]?.limiter.change(to: whole.divided(by: hosts))
            }
        }
    }

    /// Sets the limit of a route. Unchanged, it goes on as it is.
    fileprivate func set(_ limit: RateLimit, of route: String) {
        state.withLock { state in
            guard state.buckets[route]?.whole != limit else { return }
            state.buckets[route] = Bucket(whole: limit, limiter: RateLimiter(limit.divided(by: state.hosts)))
        }
    }

    fileprivate func withLimiter<R>(of route: String, _ body: (inout RateLimiter) -> R) -> R? {
        state.withLock { state in
            guard var limiter = state.buckets[route]?.limiter else { return nil }
            defer { state.buckets[route]?.limiter = limiter }
            return body(&limiter)
        }
    }
}

/// The rate limit of one route, as its Consumer asks for it.
struct RouteRate: Sendable {
    private let rates: SharedRates
    private let route: String
    private var hasLimit = false

    /// - Parameter limit: nil for none.
    init(of route: String, _ limit: RateLimit?, in rates: SharedRates) {
        self.rates = rates
        self.route = route
        change(to: limit)
    }

    mutating func change(to limit: RateLimit?) {
        hasLimit = limit != nil
        if let limit { rates.set(limit, of: route) }
    }

    /// The number that may go out now, before ``take(_:)``; nil for any number.
    func allowance(now: Duration) -> Int? { withLimiter { $0.allowance(now: now) } }

    /// The same, for a look that takes nothing.
    func outlook(now: Duration) -> Int? {
        withLimiter { limiter in
            var limiter = limiter
            return limiter.allowance(now: now)
        }
    }

    /// So many went out.
    func take(_ count: Int) { withLimiter { $0.take(count) } }

    /// When to ask again.
    func nextAllowance(now: Duration) -> Duration? { withLimiter { $0.nextAllowance(now: now) } }

    @discardableResult
    private func withLimiter<R>(_ body: (inout RateLimiter) -> R) -> R? {
        hasLimit ? rates.withLimiter(of: route, body) : nil
    }
}
