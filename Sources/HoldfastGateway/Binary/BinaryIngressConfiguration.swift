public import Holdfast

/// The listener that speaks the binary protocol.
public struct BinaryIngressConfiguration: Sendable {
    public var listen: ListenAddress
    /// Nil is the protocol without TLS, for loopback only.
    public var tls: ServerTLS?
    public var limits = ListenerLimits()
    /// What its notifications are for; nil for what each client's certificate is for.
    public var topic: String?
    /// The most notifications of a connection that were read and are not on disk yet: what its client believes to be sent,
    /// and a kill -9 loses, beside what the kernel's buffers hold and one read of at most 64 KiB. Beyond it nothing is
    /// read. Default: 1000.
    public var uncommitted = 1000
    /// How long the journal may take nothing, being full, until a client is told which of its notifications is the last one
    /// on disk, and its connection is closed; until then nothing is read. Default: 30 s.
    public var roomLimit: Duration = .seconds(30)
    /// For how long a notification is tried that is not to be stored (an expiration of 0). Zero is one attempt. Default: 1
    /// hour.
    public var unstoredLifetime: Duration = .seconds(3600)
    /// Notifications a second over all connections, beyond which nothing is read for a while; nil for any number.
    /// Default: nil.
    public var rate: RateLimit?

    public init(listen: ListenAddress, tls: ServerTLS? = nil, topic: String? = nil) {
        self.listen = listen
        self.tls = tls
        self.topic = topic
    }
}
