/// A limit on the notifications that a route sends in a second, repeated attempts included.
public struct RateLimit: Hashable, Sendable {
    /// The average rate; more than 0, and possibly less than 1.
    public var perSecond: Double
    /// The most notifications at once after a pause; at least 1.
    public var burst: Int

    /// Creates a limit.
    ///
    /// - Parameter burst: `nil` for the number of one second.
    public init(perSecond: Double, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = max(burst ?? Int(perSecond.rounded(.up)), 1)
    }

    /// The part of one of so many hosts. Each has a burst of at least 1.
    func divided(by hosts: Int) -> RateLimit {
        RateLimit(perSecond: perSecond / Double(max(hosts, 1)), burst: burst / max(hosts, 1))
    }
}
