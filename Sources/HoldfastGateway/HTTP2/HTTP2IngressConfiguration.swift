public import Holdfast

/// The configuration of the listener for APNs over HTTP/2, and for the HTTP v1 interface of Firebase Cloud Messaging over HTTP/2
/// and HTTP/1.1.
public struct HTTP2IngressConfiguration: Sendable {
    /// The address to listen on.
    public var listen: ListenAddress
    /// TLS. Nil is HTTP/2 in cleartext, for loopback only. Default: nil.
    public var tls: ServerTLS?
    /// Whether clients on this machine have to show credentials. Clients from other machines always have to. Default:
    /// false.
    public var requiresCredentials = false
    /// The service accounts that may send Google's messages, each for its projects: a file that `holdfast gateway
    /// account issue` writes, checked every 10 s. Default: none.
    public var serviceAccounts: CredentialSource?
    /// The environments that host names of the listener stand for: what clients send to a host goes to the route of its
    /// environment. Names are compared without regard to case, and without the port. Default: none.
    public var hosts: [String: PushEnvironment] = [:]
    /// The limits of its clients.
    public var limits = ListenerLimits()
    /// The most requests at a time on a connection (SETTINGS_MAX_CONCURRENT_STREAMS). Default: 1000.
    public var streams = 1000
    /// The most bytes of incomplete requests over all connections. Beyond it, connections with more than their share
    /// are closed (ENHANCE_YOUR_CALM). Default: 256 MiB.
    public var memory = 256 << 20
    /// When requests are answered that do not say it themselves: nil when their notifications are on disk. Default: nil.
    public var answerWait: Duration?
    /// The most requests that wait for their outcomes, over all connections; further ones are answered when they are on
    /// disk. Default: 100,000.
    public var waiting = 100_000
    /// Notifications a second over all connections, beyond which requests are answered 429 TooManyRequests with
    /// `retry-after`; nil for no limit. Default: nil.
    public var rate: RateLimit?
    /// The lifetime of a notification that is not to be stored (`apns-expiration: 0`): it is retried for this long,
    /// unless its sender asks for one attempt. Zero is one attempt for each. Default: 1 hour.
    public var unstoredLifetime: Duration = .seconds(3600)
    /// The value of `retry-after` (whole seconds, at least 1) while the journal is full or the gateway shuts down.
    /// Default: 10 s.
    public var retryAfter: Duration = .seconds(10)

    /// Creates a configuration; every other setting starts at its default.
    public init(listen: ListenAddress, tls: ServerTLS? = nil) {
        self.listen = listen
        self.tls = tls
    }

    /// Reads a register of service accounts as a listener would.
    ///
    /// - Throws: ``GatewayError`` that names the file and the fault.
    package static func checkServiceAccounts(_ source: CredentialSource) throws(GatewayError) {
        _ = try SenderAccounts(source)
    }

    var asksForCredentials: Bool { requiresCredentials || !listen.isLoopback }
}
