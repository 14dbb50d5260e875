/// Where a key or a certificate comes from. What it holds is a secret, and is never shown.
public enum CredentialSource: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A file's path. Read when the connector is made, and again when the file has changed.
    case file(String)
    /// What such a file would hold.
    case bytes([UInt8])

    /// PEM text: what stands between `-----BEGIN …-----` and `-----END …-----`, both included.
    public static func pem(_ text: String) -> CredentialSource { .bytes(Array(text.utf8)) }

    /// The path, or that it is in memory; never what is in it.
    public var description: String {
        switch self {
        case .file(let path): path
        case .bytes: "(in memory)"
        }
    }

    public var debugDescription: String { description }
}

/// What a key or a `.p12` file is encrypted with. Never shown.
public enum Passphrase: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    case text(String)
    /// The first line of a file, read whenever what it opens is read.
    case file(String)

    /// The file's path, or that there is one; never the passphrase.
    public var description: String {
        switch self {
        case .text: "(secret)"
        case .file(let path): path
        }
    }

    public var debugDescription: String { description }
}
