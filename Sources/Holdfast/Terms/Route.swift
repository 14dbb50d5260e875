/// A connector with the topics that it serves.
public struct Route: Sendable {
    /// The name, 1 to 64 bytes. It is part of the lanes' names in the journal, so a renamed route leaves its entries behind.
    public let name: String
    /// The connector that sends the route's notifications.
    public let connector: any Connector
    /// The topics; `nil` serves every topic that no other route names.
    public let topics: Set<String>?
    /// The environment of the connector's service. Routes of both environments may share topics: see
    /// ``PushNotification/environment``. `nil` serves both environments.
    public let environment: PushEnvironment?
    /// Whether a notification whose token the service calls bad (`BadDeviceToken`) is tried once on the route that serves its
    /// topic in the other environment, and rejected only if the token is bad there, too. Needs an ``environment``.
    public let triesOtherEnvironment: Bool
    /// The most connections that take hand-outs at a time; at least 1. If only errors are answered, each has a window of its
    /// own. The present number follows ``scaling``.
    public let connections: Int
    /// How the number of connections follows the number of waiting entries.
    public let scaling: ConnectionScaling

    /// The limit on notifications a second; `nil` sets none.
    public let rate: RateLimit?
    /// Whether of all its notifications with a collapse id the newest wins: see ``PushNotification/newestWins``.
    public let newestWins: Bool

    /// The identity of the connector, since connectors cannot be compared. Copies of a route share it.
    let delivery: Delivery

    final class Delivery: Sendable {}

    /// Creates a route.
    ///
    /// - Parameter connections: `nil` for the default: 2 if each notification is answered, 1 if only errors are.
    public init(
        name: String = "default", connector: any Connector, topics: Set<String>? = nil, connections: Int? = nil,
        scaling: ConnectionScaling = ConnectionScaling(), rate: RateLimit? = nil, newestWins: Bool = false,
        environment: PushEnvironment? = nil, triesOtherEnvironment: Bool = false
    ) {
        self.init(
            name: name, connector: connector, delivery: Delivery(), topics: topics, connections: connections,
            scaling: scaling, rate: rate, newestWins: newestWins, environment: environment,
            triesOtherEnvironment: triesOtherEnvironment)
    }

    private init(
        name: String, connector: any Connector, delivery: Delivery, topics: Set<String>?, connections: Int?,
        scaling: ConnectionScaling, rate: RateLimit?, newestWins: Bool, environment: PushEnvironment?,
        triesOtherEnvironment: Bool
    ) {
        self.newestWins = newestWins
        self.environment = environment
        self.triesOtherEnvironment = triesOtherEnvironment
        self.scaling = scaling
        self.rate = rate
        self.name = name
        self.connector = connector
        self.delivery = delivery
        self.topics = topics
        self.connections = max(connections ?? Self.standardConnections(connector.confirmationMode), 1)
    }

    /// Returns a copy with other terms, for ``PushEngine/reconfigure(routes:configuration:)``, which then keeps the route's
    /// connections.
    ///
    /// - Parameter connections: as in
    ///   ``init(name:connector:topics:connections:scaling:rate:newestWins:environment:triesOtherEnvironment:)``.
    public func with(
        topics: Set<String>?, connections: Int? = nil, scaling: ConnectionScaling = ConnectionScaling(),
        rate: RateLimit? = nil, newestWins: Bool = false, environment: PushEnvironment? = nil,
        triesOtherEnvironment: Bool = false
    ) -> Route {
        Route(
            name: name, connector: connector, delivery: delivery, topics: topics, connections: connections,
            scaling: scaling, rate: rate, newestWins: newestWins, environment: environment,
            triesOtherEnvironment: triesOtherEnvironment)
    }

    /// Whether this route and `other` serve the same notifications, in the same way.
    func servesAs(_ other: Route) -> Bool {
        topics == other.topics && newestWins == other.newestWins && environment == other.environment
            && triesOtherEnvironment == other.triesOtherEnvironment
    }

    /// Whether this route and `other` have the same connector.
    func delivers(as other: Route) -> Bool { delivery === other.delivery }

    /// Whether a Consumer need not change anything for `other`.
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
