internal import Foundation
internal import Holdfast
internal import HoldfastLegacyAPNs

extension RememberedRoute {
    /// Whom a route trusts, and as whom it appears.
    struct TLS: Equatable {
        /// A path; nil trusts what the system trusts.
        var trust: String?
        var clientCertificate: String?
        /// Nil for the file of the certificate.
        var clientKey: String?
        var clientPassphraseFile: String?

        static func isPKCS12(_ path: String) -> Bool {
            [".p12", ".pfx"].contains { path.lowercased().hasSuffix($0) }
        }

        var trusted: TrustedCertificates { trust.map { .file($0) } ?? .system }

        /// Nil when none is to be shown.
        ///
        /// - Throws: ``ToolError`` when the file with the passphrase can't be read.
        func certificate() throws(ToolError) -> ClientCertificate? {
            guard let clientCertificate else { return nil }
            let passphrase = try clientPassphraseFile.map { path throws(ToolError) in try Self.passphrase(path) }
            return Self.isPKCS12(clientCertificate)
                ? .pkcs12(clientCertificate, passphrase: passphrase)
                : .pem(
                    certificates: clientCertificate, key: clientKey ?? clientCertificate, passphrase: passphrase)
        }

        private static func passphrase(_ path: String) throws(ToolError) -> String {
            do {
                let text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
                return String(text.prefix { !$0.isNewline })
            } catch {
                throw ToolError(
                    .configuration, "the passphrase file \(path) can't be read: \(error.localizedDescription)")
            }
        }
    }

    var tls: TLS {
        get {
            TLS(
                trust: trust, clientCertificate: clientCertificate, clientKey: clientKey,
                clientPassphraseFile: clientPassphraseFile)
        }
        set {
            trust = newValue.trust
            clientCertificate = newValue.clientCertificate
            clientKey = newValue.clientKey
            clientPassphraseFile = newValue.clientPassphraseFile
        }
    }
}
