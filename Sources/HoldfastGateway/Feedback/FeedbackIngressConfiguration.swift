/// The configuration of the listener for the feedback protocol.
public struct FeedbackIngressConfiguration: Sendable {
    /// The address to listen on.
    public var listen: ListenAddress
    /// TLS. Nil is the protocol in cleartext, for loopback only. Default: nil.
    public var tls: ServerTLS?
    /// The limits of its clients.
    public var limits = ListenerLimits()
    /// The topic whose blacklisted tokens are served; nil for the topic of each client's certificate. Default: nil.
    public var topic: String?

    /// Creates a configuration; every other setting starts at its default.
    public init(listen: ListenAddress, tls: ServerTLS? = nil, topic: String? = nil) {
        self.listen = listen
        self.tls = tls
        self.topic = topic
    }
}
