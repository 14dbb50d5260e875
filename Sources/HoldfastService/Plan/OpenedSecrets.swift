internal import Holdfast
internal import HoldfastGateway
internal import HoldfastTransport

/// Keys, and a journal with its payloads, that others of this machine may read.
///
/// A service is not refused for it: mounted keys often have such modes, and who may be trusted with them is for those to say
/// who run the machine. Secrets that only Holdfast asks for are refused: see `SecretFile`.
struct OpenedSecrets: Sendable {
    /// For people, one of each.
    private(set) var warnings: [String] = []

    init(_ configuration: HoldfastConfiguration) {
        for route in configuration.routes {
            let certificate = route.certificate
            for file in [
                route.signingKey?.file, route.firebase?.serviceAccount, certificate?.key ?? certificate?.file,
                certificate?.passphraseFile,
            ] {
                lookAtKey(file)
            }
        }
        for (_, listener) in configuration.gateway.listeners {
            lookAtKey(listener.tls?.identity.keyFile)
            lookAtKey(listener.tls?.identity.passphraseFile)
        }
        // A file that is open to a group is the group's: some keys belong to root, and a group reads them.
        if let journal = configuration.journal.path, let mode = SecretFile.mode(of: journal), mode & 0o077 != 0 {
            warnings.append(
                "the journal \(journal) is open to others of this machine (mode \(SecretFile.text(mode))), and with it tokens and "
                    + "payloads: `chmod 700 \(journal)`")
        }
    }

    private mutating func lookAtKey(_ file: String?) {
        guard let file, let mode = SecretFile.mode(of: file), mode & 0o007 != 0 else { return }
        let words =
            "\(file) holds a secret and is open to all of this machine (mode \(SecretFile.text(mode))): `chmod o= \(file)`"
        if !warnings.contains(words) { warnings.append(words) }
    }
}

extension ClientCertificate {
    /// The file that holds the key; nil where none does.
    fileprivate var keyFile: String? {
        let source =
            switch content {
            case .pem(_, let key): key
            case .pkcs12(let source): source
            }
        guard case .file(let path) = source else { return nil }
        return path
    }

    /// The file that holds the passphrase; nil where none does.
    fileprivate var passphraseFile: String? {
        guard case .file(let path)? = passphrase else { return nil }
        return path
    }
}
