package import Holdfast
package import HoldfastOpenSSL

/// Reads the certificates that the other side's must be signed by.
package enum TrustStore {
    /// - Parameters:
    ///   - what: the expected content of the file, for people.
    ///   - revocations: the revocation lists of those authorities, PEM or DER; nil checks no revocation.
    /// - Throws: an error that names the file that is missing or invalid.
    package static func verifier(
        _ trust: TrustedCertificates, as what: String, revocations: CredentialSource? = nil
    ) throws(TransportConfigurationError) -> CertificateVerifier {
        let text = try text(trust, as: what)
        let lists = try revocations.map { source throws(TransportConfigurationError) in try Self.lists(source) }
        do throws(OpenSSLError) {
            return try CertificateVerifier(
                trusting: try text.map { text throws(OpenSSLError) in
                    try Certificate.all(pem: text.bytes)
                }, revoked: lists)
        } catch {
            throw TransportConfigurationError(
                text.map { "\($0.name) is not PEM with certificates: \(error)" } ?? "\(error)")
        }
    }

    /// The revocation lists that do not do, for people, one of each.
    ///
    /// - Parameter now: Unix seconds.
    package static func warnings(
        _ revocations: CredentialSource, now: Int64
    ) throws(TransportConfigurationError) -> [String] {
        let lists = try lists(revocations)
        let name = revocations.named("revocation list")
        return Set(lists.map(\.issuer)).sorted().compactMap { issuer in
            let ends = lists.filter { $0.issuer == issuer }.map { $0.end ?? .max }
            guard let end = ends.max(), end <= now else { return nil }
            return "the list of \(issuer) in the \(name) is out of date (\(ClientCertificate.text(end))): clients of "
                + "that authority are refused until there is a newer one"
        }
    }

    private static func lists(_ source: CredentialSource) throws(TransportConfigurationError) -> [RevocationList] {
        let what = "revocation list"
        let bytes = try source.read(as: what)
        do throws(OpenSSLError) {
            return try RevocationList.all(bytes)
        } catch {
            throw TransportConfigurationError("the \(source.named(what)) can't be used: \(error)")
        }
    }

    /// - Returns: the PEM, and its description for people; nil for the system's.
    private static func text(
        _ trust: TrustedCertificates, as what: String
    ) throws(TransportConfigurationError) -> (bytes: [UInt8], name: String)? {
        switch trust {
        case .system: nil
        case .file(let path): (try ConfigurationFile.read(path, as: what), "the \(what) \(path)")
        case .pem(let bytes): (bytes, "the text of the trusted certificates")
        }
    }
}
