package import Holdfast
package import HoldfastOpenSSL
package import NIOSSL

/// Reads the certificates that the other side's must be signed by.
package enum TrustStore {
    /// - Parameter what: what the file is to be, for people.
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    package static func verifier(
        _ trust: TrustedCertificates, as what: String
    ) throws(TransportConfigurationError) -> CertificateVerifier {
        let text = try text(trust, as: what)
        do throws(OpenSSLError) {
            return try CertificateVerifier(
                trusting: try text.map { text throws(OpenSSLError) in
                    try Certificate.all(pem: text.bytes)
                })
        } catch {
            throw TransportConfigurationError(
                text.map { "\($0.name) is not PEM with certificates: \(error)" } ?? "\(error)")
        }
    }

    /// For a listener; nil for the system's.
    ///
    /// - Parameter what: what the file is to be, for people.
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    package static func roots(
        _ trust: TrustedCertificates, as what: String
    ) throws(TransportConfigurationError) -> NIOSSLTrustRoots? {
        guard let (bytes, name) = try text(trust, as: what) else { return nil }
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
            guard !certificates.isEmpty else { throw TransportConfigurationError("\(name) holds no certificate") }
            return .certificates(certificates)
        } catch let error as TransportConfigurationError {
            throw error
        } catch {
            throw TransportConfigurationError("\(name) is not PEM with certificates: \(error)")
        }
    }

    /// - Returns: the PEM, and what it is, for people; nil for the system's.
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
