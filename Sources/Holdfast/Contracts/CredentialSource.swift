/// The source of a key or a certificate. Its content is a secret, and is never shown. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CredentialSource: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A file's path. Read when the connector is made, and again when the file has changed.
    case file(String)
    /// The content of such a file.
    case bytes([UInt8])

    /// PEM text: what stands between `-----BEGIN …-----` and `-----END …-----`, both included.
    public static func pem(_ text: String) -> CredentialSource { .bytes(Array(text.utf8)) }

    /// The path, or `(in memory)`; never the content.
    public var description: String {
        switch self {
        case .file(let path): path
        case .bytes: "(in memory)"
        }
    }

    /// The ``description``, so that a debugger's print shows no secret either.
    public var debugDescription: String { description }
}

/// The passphrase of an encrypted key or `.p12` file. Never shown. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Passphrase: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The passphrase itself.
    case text(String)
    /// The first line of a file, read each time that the key is read.
    case file(String)

    /// The file's path, or `(secret)`; never the passphrase.
    public var description: String {
        switch self {
        case .text: "(secret)"
        case .file(let path): path
        }
    }

    /// The ``description``, so that a debugger's print shows no secret either.
    public var debugDescription: String { description }
}
