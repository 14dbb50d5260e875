/// Where operators and their machines look, and how much of it they may take.
public struct AdminConfiguration: Sendable {
    public var listen: ListenAddress
    /// Whether an address that is reached from elsewhere is meant: there is no TLS and no password. Default: no.
    public var servesEverybody = false
    /// Connections at a time; for one more, the one that has been idle for longest is closed. Default: 32.
    public var connections = 32
    /// How long a connection may take from one request to the end of the head of the next. Default: 60 s.
    public var idle: Duration = .seconds(60)
    /// How long a request may take, once its head has come, until all of it has, and how long its answer. Default: 10 s.
    public var request: Duration = .seconds(10)
    /// Bytes of a request's head. Default: 8192.
    public var headBytes = 8192
    /// From one line of a kind to the next in the listener's log. Default: 60 s.
    public var logInterval: Duration = .seconds(60)

    public init(listen: ListenAddress) { self.listen = listen }
}
