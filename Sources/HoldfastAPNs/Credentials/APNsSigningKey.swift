public import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport

/// The key that signs provider tokens, from Apple's `.p8` file, with its two identifiers.
public struct APNsSigningKey: Sendable {
    /// The source of the key, for reading it again.
    let source: CredentialSource
    let passphrase: Passphrase?
    let key: ES256PrivateKey
    /// SHA-256 of its public half, which identifies the key.
    let fingerprint: [UInt8]
    /// The key's identifier in the developer account.
    public let keyID: String
    /// The team's identifier in the developer account.
    public let teamID: String

    /// Reads a signing key.
    ///
    /// - Parameters:
    ///   - source: a `.p8` file, or its contents. A connector reads a file again when it has changed.
    ///   - passphrase: for an encrypted key. Apple's are not encrypted.
    ///   - keyID: ten characters, from the developer account.
    ///   - teamID: ten characters, from the developer account.
    /// - Throws: ``APNsConfigurationError`` that names the file and says what it is instead of an ES256 key (P-256).
    public init(
        _ source: CredentialSource, passphrase: Passphrase? = nil, keyID: String, teamID: String
    ) throws(APNsConfigurationError) {
        (self.source, self.passphrase) = (source, passphrase)
        do throws(TransportConfigurationError) {
            (key, fingerprint) = try Self.read(source, passphrase)
        } catch {
            throw APNsConfigurationError(error.message)
        }
        self.keyID = try Self.checked(keyID, "key id")
        self.teamID = try Self.checked(teamID, "team id")
    }

    /// Reads a signing key from a file.
    ///
    /// - Parameters:
    ///   - path: a `.p8` file.
    ///   - keyID: ten characters, from the developer account.
    ///   - teamID: ten characters, from the developer account.
    /// - Throws: ``APNsConfigurationError`` that names the file and says what it is instead of an ES256 key (P-256).
    public init(file path: String, keyID: String, teamID: String) throws(APNsConfigurationError) {
        try self.init(.file(path), keyID: keyID, teamID: teamID)
    }

    /// The same key, read again from its source.
    func reloaded() throws(APNsConfigurationError) -> APNsSigningKey {
        try APNsSigningKey(source, passphrase: passphrase, keyID: keyID, teamID: teamID)
    }

    private static func read(
        _ source: CredentialSource, _ passphrase: Passphrase?
    ) throws(TransportConfigurationError) -> (ES256PrivateKey, [UInt8]) {
        let bytes = try source.read(as: "signing key")
        let passphrase = try passphrase?.read()
        do throws(OpenSSLError) {
            let key = try ES256PrivateKey(pem: bytes, passphrase: passphrase)
            return (key, try key.publicKey.fingerprint())
        } catch {
            throw TransportConfigurationError("the \(source.named("signing key")) can't be used: \(error)")
        }
    }

    private static func checked(_ text: String, _ name: String) throws(APNsConfigurationError) -> String {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ Character(UnicodeScalar($0)).isLetter || Character(UnicodeScalar($0)).isNumber })
        else {
            throw APNsConfigurationError("the \(name) \(text.prefix(64).debugDescription) is not letters and digits")
        }
        return text
    }

    /// The paths of its files.
    var files: [String] {
        var files: [String] = []
        if case .file(let path) = source { files.append(path) }
        if case .file(let path)? = passphrase { files.append(path) }
        return files
    }
}
