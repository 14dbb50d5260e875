public import Holdfast

/// Of those who show a certificate that is good: one who may submit, and what.
public struct ClientSubject: Hashable, Sendable {
    /// What the certificate says: the common name of its subject, a host name among its alternative names, or the whole
    /// subject as RFC 2253 writes it (`CN=orders,O=Example`).
    public var name: String
    /// Nil for all.
    public var topics: Set<String>?
    /// Notifications a second over all its connections to a listener; nil for any number.
    public var rate: RateLimit?

    public init(_ name: String, topics: Set<String>? = nil, rate: RateLimit? = nil) {
        self.name = name
        self.topics = topics
        self.rate = rate
    }
}
