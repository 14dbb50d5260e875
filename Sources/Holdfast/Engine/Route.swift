/// Which connector serves which topics.
public struct Route: Sendable {
    /// 1 to 64 bytes; part of the lanes' names in the journal, so a route that is renamed leaves its entries behind.
    public let name: String
    public let connector: any Connector
    /// Nil serves every topic that no other route names.
    public let topics: Set<String>?
    /// The most connections that take hand-outs at a time, each with a window of its own where only errors are answered.
    /// One more is made while those that are there take no more. At least 1.
    public let connections: Int

    /// Nil for as fast as the service takes them.
    public let rate: RateLimit?

    public init(
        name: String = "default", connector: any Connector, topics: Set<String>? = nil, connections: Int = 1,
        rate: RateLimit? = nil
    ) {
        self.rate = rate
        self.name = name
        self.connector = connector
        self.topics = topics
        self.connections = max(connections, 1)
    }
}
