/// How many notifications of a route go out in a second, ones that are sent again included.
public struct RateLimit: Hashable, Sendable {
    /// On average; more than 0. Less than one a second is fine.
    public var perSecond: Double
    /// How many may go at once after a pause; at least 1.
    public var burst: Int

    /// - Parameter burst: nil for as many as a second brings.
    public init(perSecond: Double, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = max(burst ?? Int(perSecond.rounded(.up)), 1)
    }
}
