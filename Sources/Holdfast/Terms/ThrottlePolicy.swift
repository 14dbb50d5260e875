/// The pace of a route while its service throttles or is unavailable. See Docs/Reference/Answers.md.
public struct ThrottlePolicy: Hashable, Sendable {
    /// The upper bound of the pause after the first refusal, before a probe. Each refused probe doubles it. Jitter takes off up
    /// to half of the pause, and a longer `Retry-After` replaces it. Default: 1 s.
    public var minimumPause: Duration = .seconds(1)
    /// The greatest upper bound of a pause. Default: 60 s.
    public var maximumPause: Duration = .seconds(60)
    /// The most requests in flight at the start of a route. The limit doubles with each batch that the service answers, up to
    /// the window, so that a service with a small quota does not refuse a whole window first. At least 1. Default: 16.
    public var firstBurst = 16

    /// Creates the default policy.
    public init() {}

    /// The bound of the pause after so many doublings.
    func pause(_ doublings: Int) -> Duration {
        min(minimumPause * (1 << min(max(doublings, 0), 30)), max(maximumPause, minimumPause))
    }
}
