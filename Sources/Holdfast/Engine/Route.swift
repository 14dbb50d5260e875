/// Which connector serves which topics.
public struct Route: Sendable {
    /// 1 to 64 bytes; part of the lanes' names in the journal, so a route that is renamed leaves its entries behind.
    public let name: String
    public let connector: any Connector
    /// Nil serves every topic that no other route names.
    public let topics: Set<String>?

    public init(name: String = "default", connector: any Connector, topics: Set<String>? = nil) {
        self.name = name
        self.connector = connector
        self.topics = topics
    }
}
