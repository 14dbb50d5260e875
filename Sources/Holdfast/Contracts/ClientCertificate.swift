/// The certificate by which a push service authenticates this sender, with its key. Read when the connector is made, and
/// again when one of its files has changed.
public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible {
    /// The sources of the certificate and the key.
    package enum Content: Hashable, Sendable {
        case pem(certificates: CredentialSource, key: CredentialSource)
        case pkcs12(CredentialSource)
    }

    package let content: Content
    package let passphrase: Passphrase?

    package init(_ content: Content, passphrase: Passphrase?) {
        (self.content, self.passphrase) = (content, passphrase)
    }

    /// PEM files, which may be one and the same.
    ///
    /// - Parameters:
    ///   - certificates: the certificate, with those that lead to its authority.
    ///   - key: the private key: RSA, EC or Ed25519, PKCS#8 or traditional.
    ///   - passphrase: of the key; nil where it has none.
    public static func pem(certificates: String, key: String, passphrase: String? = nil) -> ClientCertificate {
        .pem(certificates: .file(certificates), key: .file(key), passphrase: passphrase.map { .text($0) })
    }

    /// PEM from any source; both may be the same.
    ///
    /// - Parameters:
    ///   - certificates: the certificate, with those that lead to its authority.
    ///   - key: the private key: RSA, EC or Ed25519, PKCS#8 or traditional.
    ///   - passphrase: of the key; nil where it has none.
    public static func pem(
        certificates: CredentialSource, key: CredentialSource, passphrase: Passphrase? = nil
    ) -> ClientCertificate {
        ClientCertificate(.pem(certificates: certificates, key: key), passphrase: passphrase)
    }

    /// A PKCS#12 file, `.p12`, with one key and its certificate, in current or legacy encryption.
    ///
    /// - Parameter passphrase: nil where it has none.
    public static func pkcs12(_ path: String, passphrase: String? = nil) -> ClientCertificate {
        .pkcs12(.file(path), passphrase: passphrase.map { .text($0) })
    }

    /// PKCS#12 from any source.
    ///
    /// - Parameter passphrase: nil where it has none.
    public static func pkcs12(_ source: CredentialSource, passphrase: Passphrase? = nil) -> ClientCertificate {
        ClientCertificate(.pkcs12(source), passphrase: passphrase)
    }

    /// The certificate's path, or `(in memory)`.
    public var description: String {
        switch content {
        case .pem(let source, _), .pkcs12(let source): source.description
        }
    }

    /// The paths of its files, the passphrase's among them.
    package var files: [String] {
        var files: [String] = []
        func add(_ source: CredentialSource) { if case .file(let path) = source { files.append(path) } }
        switch content {
        case .pem(let certificates, let key):
            add(certificates)
            if key != certificates { add(key) }
        case .pkcs12(let source):
            add(source)
        }
        if case .file(let path)? = passphrase { files.append(path) }
        return files
    }
}
