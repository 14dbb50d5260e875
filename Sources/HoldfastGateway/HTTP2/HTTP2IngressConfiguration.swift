public import Holdfast

/// The listener that speaks APNs over HTTP/2.
public struct HTTP2IngressConfiguration: Sendable {
    public var listen: ListenAddress
    /// Nil is h2 in the clear, for loopback only.
    public var tls: ServerTLS?
    /// Whether clients on this machine have to show credentials, too. Those from elsewhere always have to. Default: false.
    public var requiresCredentials = false
    public var limits = ListenerLimits()
    /// Requests at a time on a connection (MAX_CONCURRENT_STREAMS). Default: 1000.
    public var streams = 1000
    /// Bytes of requests that have begun and not ended, over all connections: beyond them the connections that have more
    /// than their share are closed (ENHANCE_YOUR_CALM). Default: 256 MiB.
    public var memory = 256 << 20
    /// Notifications a second over all connections, beyond which requests are answered 429 TooManyRequests with
    /// `retry-after`; nil for any number. Default: nil.
    public var rate: RateLimit?
    /// For how long a notification is tried that is not to be stored (`apns-expiration: 0`), unless its sender asks for one
    /// attempt. Zero is one attempt for each. Default: 1 hour.
    public var unstoredLifetime: Duration = .seconds(3600)
    /// What a sender is told in `retry-after` (whole seconds, at least 1) while the journal is full or the gateway ends.
    /// Default: 10 s.
    public var retryAfter: Duration = .seconds(10)

    public init(listen: ListenAddress, tls: ServerTLS? = nil) {
        self.listen = listen
        self.tls = tls
    }

    var asksForCredentials: Bool { requiresCredentials || !listen.isLoopback }
}
