internal import ArgumentParser
internal import Foundation

/// Whom to trust, and as whom to appear.
struct TLSOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "PEM file with the certificates to trust, instead of the system's. `system` returns to those.",
            valueName: "ca.pem"),
        completion: .file(extensions: ["pem"]))
    var trust: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Binary protocol: the certificate to show, PEM or .p12.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "p12", "pfx"]))
    var clientCertificate: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Its key, PEM. (default: in the same file)", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var clientKey: String?

    @Option(
        name: .long,
        help: ArgumentHelp("A file with the passphrase of the key or of the .p12: its first line.", valueName: "file"),
        completion: .file())
    var clientPassphraseFile: String?

    /// The settings that these flags make of what is remembered.
    ///
    /// - Throws: a `ValidationError` when they contradict each other.
    func settings(remembered: RememberedRoute.TLS) throws -> RememberedRoute.TLS {
        var settings = remembered
        if let trust { settings.trust = trust == "system" ? nil : Self.absolute(trust) }
        if let clientCertificate {
            // Another certificate has another key.
            settings.clientCertificate = Self.absolute(clientCertificate)
            settings.clientKey = nil
            settings.clientPassphraseFile = nil
        }
        if let clientKey { settings.clientKey = Self.absolute(clientKey) }
        if let clientPassphraseFile { settings.clientPassphraseFile = Self.absolute(clientPassphraseFile) }
        guard let certificate = settings.clientCertificate else {
            if settings.clientKey != nil || settings.clientPassphraseFile != nil {
                throw ValidationError("--client-key and --client-passphrase-file need --client-certificate.")
            }
            return settings
        }
        if RememberedRoute.TLS.isPKCS12(certificate), settings.clientKey != nil {
            throw ValidationError("--client-key is for PEM files: a .p12 file holds its key.")
        }
        return settings
    }

    /// Flags that were given and mean something to the binary protocol only.
    var binaryFlags: [String] {
        [
            clientCertificate.map { _ in "--client-certificate" }, clientKey.map { _ in "--client-key" },
            clientPassphraseFile.map { _ in "--client-passphrase-file" },
        ].compactMap { $0 }
    }

    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
