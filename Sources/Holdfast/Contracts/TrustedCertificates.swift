/// Which certificates the certificate of a push service must be signed by.
public enum TrustedCertificates: Hashable, Sendable {
    /// The operating system's.
    case system
    /// Those in a PEM file, and no others.
    case file(String)
    /// These, PEM, and no others.
    case pem([UInt8])
}
