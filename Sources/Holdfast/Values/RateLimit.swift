/// A limit on the notifications that a route sends in a second, repeated attempts included.
public struct RateLimit: Hashable, Sendable {
    /// The average rate; more than 0, and possibly less than 1.
    public var perSecond: Double
    /// The most notifications at once after a pause; at least 1. With ``rampUp``, the part of it that is the rate's.
    public var burst: Int
    /// The time in which a route that begins to send comes from ``rampStart`` of the rate to the whole; nil for the whole at
    /// once. While less than half of what is allowed is sent, it falls as fast, so that a pause of that length begins anew.
    public var rampUp: Duration?

    /// The part of the rate that a ramp begins with.
    public static let rampStart = 0.1

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - burst: `nil` for the number of one second.
    ///   - rampUp: `nil`, or zero, for the whole rate at once.
    public init(perSecond: Double, burst: Int? = nil, rampUp: Duration? = nil) {
        self.perSecond = perSecond
        self.burst = max(burst ?? Int(perSecond.rounded(.up)), 1)
        self.rampUp = rampUp == .zero ? nil : rampUp
    }

    /// The part of one of so many hosts. Each has a burst of at least 1.
    func divided(by hosts: Int) -> RateLimit {
        RateLimit(perSecond: perSecond / Double(max(hosts, 1)), burst: burst / max(hosts, 1), rampUp: rampUp)
    }
}
