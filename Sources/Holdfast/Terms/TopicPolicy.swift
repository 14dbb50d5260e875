/// The limits of setting topics aside that the service refuses.
public struct TopicPolicy: Hashable, Sendable {
    /// The most topics of a route that are set aside. Entries of further refused topics wait one by one, each for the longest
    /// pause of ``EngineConfiguration/probes``. Default: 1000.
    public var greatestHeld = 1000
    /// The interval between scans for expired entries of topics that are set aside. Default: 1 h.
    public var sweep: Duration = .seconds(3600)

    /// Creates the default policy.
    public init() {}
}
