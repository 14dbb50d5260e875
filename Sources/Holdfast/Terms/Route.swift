/// Which connector serves which topics.
public struct Route: Sendable {
    /// 1 to 64 bytes; part of the lanes' names in the journal, so a route that is renamed leaves its entries behind.
    public let name: String
    /// The connector that sends the route's notifications.
    public let connector: any Connector
    /// Nil serves every topic that no other route names.
    public let topics: Set<String>?
    /// The most connections that take hand-outs at a time, each with a window of its own where only errors are answered.
    /// At least 1. How many there are is ``scaling``'s to say.
    public let connections: Int
    /// How their number follows what waits.
    public let scaling: ConnectionScaling

    /// Nil for as fast as the service takes them.
    public let rate: RateLimit?

    /// Which connector it is: connectors are values of all kinds, and none of them can be compared. Copies of a route have the
    /// same one.
    let delivery: Delivery

    final class Delivery: Sendable {}

    /// - Parameter connections: nil for 2 where each notification is answered, and 1 where only errors are.
    public init(
        name: String = "default", connector: any Connector, topics: Set<String>? = nil, connections: Int? = nil,
        scaling: ConnectionScaling = ConnectionScaling(), rate: RateLimit? = nil
    ) {
        self.init(
            name: name, connector: connector, delivery: Delivery(), topics: topics, connections: connections,
            scaling: scaling, rate: rate)
    }

    private init(
        name: String, connector: any Connector, delivery: Delivery, topics: Set<String>?, connections: Int?,
        scaling: ConnectionScaling, rate: RateLimit?
    ) {
        self.scaling = scaling
        self.rate = rate
        self.name = name
        self.connector = connector
        self.delivery = delivery
        self.topics = topics
        self.connections = max(connections ?? Self.standardConnections(connector.confirmationMode), 1)
    }

    /// The same route with its connector, and other terms: for ``PushEngine/reconfigure(routes:configuration:)``, which then
    /// leaves its connections alone.
    ///
    /// - Parameter connections: nil as with ``init(name:connector:topics:connections:scaling:rate:)``.
    public func with(
        topics: Set<String>?, connections: Int? = nil, scaling: ConnectionScaling = ConnectionScaling(),
        rate: RateLimit? = nil
    ) -> Route {
        Route(
            name: name, connector: connector, delivery: delivery, topics: topics, connections: connections,
            scaling: scaling, rate: rate)
    }

    /// Whether entries of this one and of `other` go by the same connector.
    func delivers(as other: Route) -> Bool { delivery === other.delivery }

    /// Whether nothing of a Consumer changes with the other one.
    func hasSameTerms(as other: Route) -> Bool {
        connections == other.connections && scaling == other.scaling && rate == other.rate
    }

    private static func standardConnections(_ mode: ConfirmationMode) -> Int {
        switch mode {
        case .perNotification: 2
        case .cumulative: 1
        }
    }
}
