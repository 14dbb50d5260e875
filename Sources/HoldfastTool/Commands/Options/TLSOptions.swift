internal import ArgumentParser
internal import Foundation
internal import HoldfastService

/// Whom to trust, and as whom to appear.
struct TLSOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A PEM file with the certificates to trust instead of the system's; `system` returns to the system's.
            """,
            valueName: "ca.pem"),
        completion: .file(extensions: ["pem"]))
    var trust: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The client certificate, instead of a signing key: PEM or .p12.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "p12", "pfx"]))
    var clientCertificate: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The key of the client certificate, PEM. (default: in the same file)
            """, valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var clientKey: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A file whose first line is the passphrase of the key or of the .p12.
            """, valueName: "file"),
        completion: .file())
    var clientPassphraseFile: String?

    /// Puts these flags over what is remembered or configured.
    ///
    /// - Throws: a `ValidationError` when they contradict each other.
    func apply(trust: inout String?, certificate: inout RouteSettings.Certificate?) throws {
        if let flag = self.trust { trust = flag == "system" ? nil : Self.absolute(flag) }
        // Another certificate has another key.
        if let clientCertificate { certificate = .init(file: Self.absolute(clientCertificate)) }
        guard clientKey != nil || clientPassphraseFile != nil else { return }
        guard var settings = certificate else {
            throw ValidationError("--client-key and --client-passphrase-file need --client-certificate.")
        }
        if let clientKey { settings.key = Self.absolute(clientKey) }
        if let clientPassphraseFile {
            (settings.passphraseFile, settings.passphrase) = (Self.absolute(clientPassphraseFile), nil)
        }
        if RouteSettings.isPKCS12(settings.file ?? ""), settings.key != nil {
            throw ValidationError("--client-key is for PEM files: a .p12 file holds its key.")
        }
        certificate = settings
    }

    /// Flags that were given.
    var given: [String] {
        [
            trust.map { _ in "--trust" }, clientCertificate.map { _ in "--client-certificate" },
            clientKey.map { _ in "--client-key" },
            clientPassphraseFile.map { _ in "--client-passphrase-file" },
        ].compactMap { $0 }
    }

    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
