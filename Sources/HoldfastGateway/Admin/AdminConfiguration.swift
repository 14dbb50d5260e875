/// The configuration of an ``AdminServer``: its address, and the limits of its clients.
public struct AdminConfiguration: Sendable {
    /// The address to listen on.
    public var listen: ListenAddress
    /// Whether other machines may reach the address: there is no TLS and no password. Default: no.
    public var servesEverybody = false
    /// The most connections; a further one replaces the one that has been idle for longest. Default: 32.
    public var connections = 32
    /// The idle timeout, from one request to the end of the head of the next. Default: 60 s.
    public var idle: Duration = .seconds(60)
    /// The timeout of a request, from its head to its end, and of its answer. Default: 10 s.
    public var request: Duration = .seconds(10)
    /// The most bytes of a request's head. Default: 8192.
    public var headBytes = 8192
    /// The interval between two lines of one kind in the listener's log. Default: 60 s.
    public var logInterval: Duration = .seconds(60)

    /// Creates a configuration; every other setting starts at its default.
    public init(listen: ListenAddress) { self.listen = listen }
}
