/// The limits of a listener's clients.
public struct ListenerLimits: Hashable, Sendable {
    /// The most connections at a time; a further one is closed at once. Default: 1000.
    public var connections = 1000
    /// The most connections from one IPv4 address, or from one IPv6 network of 64 bits. Default (nil): half of
    /// ``connections`` where clients have to show credentials, otherwise all.
    public var connectionsPerAddress: Int?
    /// The timeout of a connection's first accepted request, where clients have to show credentials and it has shown no
    /// certificate. Default: 1 min.
    public var firstRequest: Duration = .seconds(60)
    /// The handshake timeout: TLS, and the first bytes of the protocol. Default: 10 s.
    public var handshake: Duration = .seconds(10)
    /// The idle timeout: for silence while no answer is due. Default: 1 h.
    public var idle: Duration = .seconds(3600)
    /// The write timeout: for reading an answer. Default: 30 s.
    public var write: Duration = .seconds(30)

    /// Creates limits with the defaults.
    public init() {}

    /// The most connections from one address.
    func addressLimit(asksForCredentials: Bool) -> Int {
        connectionsPerAddress ?? (asksForCredentials ? max(connections / 2, 1) : .max)
    }
}
