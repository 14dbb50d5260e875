/// What clients of one listener may take. Every bound has its name here.
public struct ListenerLimits: Hashable, Sendable {
    /// Connections at a time; one more is closed at once. Default: 1000.
    public var connections = 1000
    /// Of them from one IPv4 address, or from one IPv6 network of 64 bits. Default: half of the connections where clients
    /// have to show credentials, all where they need not.
    public var connectionsPerAddress: Int?
    /// How long a connection may take until its first request is let in, where clients have to show credentials, and it has
    /// shown no certificate. Default: 1 min.
    public var firstRequest: Duration = .seconds(60)
    /// How long a connection may take until it speaks the protocol: TLS, and the first bytes. Default: 10 s.
    public var handshake: Duration = .seconds(10)
    /// How long a connection may say nothing while nothing is owed to it. Default: 1 h.
    public var idle: Duration = .seconds(3600)
    /// How long a connection may take to read what it is owed. Default: 30 s.
    public var write: Duration = .seconds(30)

    public init() {}

    /// As many may be open from one address.
    func addressLimit(asksForCredentials: Bool) -> Int {
        connectionsPerAddress ?? (asksForCredentials ? max(connections / 2, 1) : .max)
    }
}
