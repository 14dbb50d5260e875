public import Holdfast

/// A client that may submit, among those with a valid certificate, and the topics it may submit for.
public struct ClientSubject: Hashable, Sendable {
    /// The part of a certificate in which a name is looked for. Closed: the gateway compares no other parts.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The whole subject for a name with `=`; for any other the common name, or a host name.
        case any
        /// The common name of the subject; of several, the first.
        case commonName = "common-name"
        /// A host name among the alternative names.
        case hostName = "host-name"
        /// The whole subject as RFC 2253 writes it (`CN=orders,O=Example`), with letters as they are or escaped.
        case subject
    }

    /// The name in the certificate.
    public var name: String
    /// The place where the certificate must have the name. Default: ``Kind/any``.
    public var kind: Kind
    /// The topics that it may submit for. Nil for all. Default: nil.
    public var topics: Set<String>?
    /// Notifications a second over all its connections to a listener; nil for no limit. Default: nil.
    public var rate: RateLimit?

    /// Creates an item of the table of clients.
    public init(_ name: String, kind: Kind = .any, topics: Set<String>? = nil, rate: RateLimit? = nil) {
        self.name = name
        self.kind = kind
        self.topics = topics
        self.rate = rate
    }
}
