internal import Foundation
internal import Holdfast
internal import HoldfastGateway

/// Keys, and a journal with its payloads, that others of this machine may read.
///
/// A service is not refused for it: who may be trusted with them is for those to say who run the machine.
struct OpenedSecrets: Sendable {
    /// For people, one of each.
    private(set) var warnings: [String] = []

    init(_ configuration: HoldfastConfiguration) {
        for route in configuration.routes {
            let certificate = route.certificate
            for file in [
                route.signingKey?.file, certificate?.key ?? certificate?.file, certificate?.passphraseFile,
            ] {
                lookAtKey(file)
            }
        }
        for (_, listener) in configuration.gateway.listeners { lookAtKey(listener.tls?.identity.keyFile) }
        for webhook in configuration.webhooks { lookAtKey(webhook.secretFile) }
        // A file that is open to a group is the group's: some keys belong to root, and a group reads them.
        if let journal = configuration.journal.path, let mode = Self.mode(of: journal), mode & 0o077 != 0 {
            warnings.append(
                "the journal \(journal) is open to others of this machine (mode \(Self.text(mode))), and with it tokens and "
                    + "payloads: `chmod 700 \(journal)`")
        }
    }

    private mutating func lookAtKey(_ file: String?) {
        guard let file, let mode = Self.mode(of: file), mode & 0o007 != 0 else { return }
        let words =
            "\(file) holds a secret and is open to all of this machine (mode \(Self.text(mode))): `chmod o= \(file)`"
        if !warnings.contains(words) { warnings.append(words) }
    }

    /// `nil` for a file that does not exist or is hidden: opening it tells of that.
    private static func mode(of path: String) -> Int? {
        // The link's own mode says nothing.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return (attributes[.posixPermissions] as? NSNumber)?.intValue
        } catch {
            return nil
        }
    }

    private static func text(_ mode: Int) -> String { "0" + String(mode & 0o777, radix: 8) }
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
}
