public import Holdfast

/// The configuration of the listener for the binary protocol.
public struct BinaryIngressConfiguration: Sendable {
    /// The address to listen on.
    public var listen: ListenAddress
    /// TLS. Nil is the protocol in cleartext, for loopback only. Default: nil.
    public var tls: ServerTLS?
    /// The limits of its clients.
    public var limits = ListenerLimits()
    /// The topic of its notifications; nil for the topic of each client's certificate. Default: nil.
    public var topic: String?
    /// The environment of its notifications, if routes share their topic; nil for the default. Default: nil.
    public var environment: PushEnvironment?
    /// The environments that host names of the listener stand for: what comes from a client that asks TLS for such a name
    /// (SNI) goes to the route of its environment, whatever ``environment`` is. Default: none.
    public var hosts: [String: PushEnvironment] = [:]
    /// The most notifications of a connection that were read and are not on disk yet. Its client believes them sent,
    /// and a kill -9 loses them, together with the kernel's buffers and one read of at most 64 KiB. Beyond the limit
    /// nothing is read. Default: 1000.
    public var uncommitted = 1000
    /// The timeout of a full journal: a client whose notifications find no room for this long is told which one is the
    /// last on disk, and its connection is closed. Until then nothing is read. Default: 30 s.
    public var roomLimit: Duration = .seconds(30)
    /// The lifetime of a notification that is not to be stored (an expiration of 0): it is retried for this long. Zero
    /// is one attempt. Default: 1 hour.
    public var unstoredLifetime: Duration = .seconds(3600)
    /// Whether errors are said about notifications that the push service rejects while their connection lasts. Default:
    /// false.
    public var tellsErrors = false
    /// The time for which such an error waits for the outcomes of the connection's earlier notifications, all of which it
    /// calls taken; and for which a client that closes its side waits for them. Default: 10 s.
    public var errorWait: Duration = .seconds(10)
    /// The time for which the gateway recognises notifications that come again because an error called them discarded.
    /// Default: 2 min.
    public var errorMemory: Duration = .seconds(120)
    /// The most notifications over all connections of which an error may be said, or which are recognised if they come
    /// again. Default: 100,000.
    public var errorCount = 100_000
    /// Notifications a second over all connections, beyond which reading pauses; nil for no limit. Default: nil.
    public var rate: RateLimit?

    /// Creates a configuration; every other setting starts at its default.
    public init(listen: ListenAddress, tls: ServerTLS? = nil, topic: String? = nil) {
        self.listen = listen
        self.tls = tls
        self.topic = topic
    }
}
