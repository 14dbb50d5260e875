/// The listener that speaks the feedback service's protocol.
public struct FeedbackIngressConfiguration: Sendable {
    public var listen: ListenAddress
    /// Nil is the protocol without TLS, for loopback only.
    public var tls: ServerTLS?
    public var limits = ListenerLimits()
    /// Whose blacklisted tokens it tells; nil for those of what each client's certificate is for.
    public var topic: String?

    public init(listen: ListenAddress, tls: ServerTLS? = nil, topic: String? = nil) {
        self.listen = listen
        self.tls = tls
        self.topic = topic
    }
}
