/// What clients of one listener may take. Every bound has its name here.
public struct ListenerLimits: Hashable, Sendable {
    /// Connections at a time; one more is closed at once. Default: 1000.
    public var connections = 1000
    /// How long a connection may take until it speaks the protocol: TLS, and the first bytes. Default: 10 s.
    public var handshake: Duration = .seconds(10)
    /// How long a connection may say nothing while nothing is owed to it. Default: 1 h.
    public var idle: Duration = .seconds(3600)
    /// How long a connection may take to read what it is owed. Default: 30 s.
    public var write: Duration = .seconds(30)

    public init() {}
}
