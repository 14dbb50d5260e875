public import Holdfast

/// Of those who show a certificate that is good: one who may submit, and what.
public struct ClientSubject: Hashable, Sendable {
    /// Part of a certificate in which a name is looked for.
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

    public var name: String
    /// Where the certificate must have the name. Default: ``Kind/any``.
    public var kind: Kind
    /// Nil for all.
    public var topics: Set<String>?
    /// Notifications a second over all its connections to a listener; nil for any number.
    public var rate: RateLimit?

    public init(_ name: String, kind: Kind = .any, topics: Set<String>? = nil, rate: RateLimit? = nil) {
        self.name = name
        self.kind = kind
        self.topics = topics
        self.rate = rate
    }
}
