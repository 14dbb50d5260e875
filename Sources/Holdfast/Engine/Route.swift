/// Which connector serves which topics.
public struct Route: Sendable {
    /// 1 to 64 bytes; part of the lanes' names in the journal, so a route that is renamed leaves its entries behind.
    public let name: String
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

    /// - Parameter connections: nil for 2 where each notification is answered, and 1 where only errors are.
    public init(
        name: String = "default", connector: any Connector, topics: Set<String>? = nil, connections: Int? = nil,
        scaling: ConnectionScaling = ConnectionScaling(), rate: RateLimit? = nil
    ) {
        self.scaling = scaling
        self.rate = rate
        self.name = name
        self.connector = connector
        self.topics = topics
        self.connections = max(connections ?? Self.standardConnections(connector.confirmationMode), 1)
    }

    private static func standardConnections(_ mode: ConfirmationMode) -> Int {
        switch mode {
        case .perNotification: 2
        case .cumulative: 1
        }
    }
}
