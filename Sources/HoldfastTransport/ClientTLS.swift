package import Holdfast
package import NIOSSL

/// The TLS that a connector speaks: 1.2 or newer, the service's certificate and host name checked.
package struct ClientTLS {
    /// - Parameters:
    ///   - protocols: what ALPN offers; none for protocols that are older than it.
    ///   - identity: nil shows no certificate.
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    package static func context(
        trust: TrustedCertificates, protocols: [String] = [], identity: ClientCertificate? = nil
    ) throws(TransportConfigurationError) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = protocols
        tls.certificateVerification = .fullVerification
        if case .file(let path) = trust { tls.trustRoots = .certificates(try certificates(path)) }
        if let loaded = try identity?.load() {
            tls.certificateChain = loaded.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(loaded.key)
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw TransportConfigurationError("TLS can't be set up: \(error)")
        }
    }

    private static func certificates(_ path: String) throws(TransportConfigurationError) -> [NIOSSLCertificate] {
        let bytes = try ConfigurationFile.read(path, as: "trusted certificate file")
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
            guard !certificates.isEmpty else {
                throw TransportConfigurationError("the trusted certificate file \(path) holds no certificate")
            }
            return certificates
        } catch let error as TransportConfigurationError {
            throw error
        } catch {
            throw TransportConfigurationError(
                "the trusted certificate file \(path) is not PEM with certificates: \(error)")
        }
    }
}
