/// The certificate authorities that may have signed a push service's certificate. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum TrustedCertificates: Hashable, Sendable {
    /// The operating system's.
    case system
    /// The certificates in a PEM file, and no others.
    case file(String)
    /// The certificates in this PEM text, and no others.
    case pem([UInt8])
}
