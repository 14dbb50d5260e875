/// How topics are set aside that the service refuses.
public struct TopicPolicy: Hashable, Sendable {
    /// The most topics of a route that are set aside. Beyond it entries of further topics that are refused wait one by one,
    /// each for the longest pause of ``EngineConfiguration/probes``. Default: 1000.
    public var greatestHeld = 1000
    /// How often what waits for its topic is looked through for entries that have expired. Default: 1 h.
    public var sweep: Duration = .seconds(3600)

    /// Creates the default policy.
    public init() {}
}
