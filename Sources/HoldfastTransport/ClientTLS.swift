package import Holdfast
package import NIOSSL

/// The TLS that a connector speaks: 1.2 or newer, the service's certificate checked, and its host name.
package struct ClientTLS {
    /// - Parameters:
    ///   - protocols: what ALPN offers; none for protocols that are older than it.
    ///   - certificate: nil shows none.
    ///   - verifiesHostName: false takes any name in a certificate that is otherwise good. The chain is always checked.
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    package static func context(
        trust: TrustedCertificates, protocols: [String] = [], certificate: ClientCertificate.Loaded? = nil,
        verifiesHostName: Bool = true
    ) throws(TransportConfigurationError) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = protocols
        tls.certificateVerification = verifiesHostName ? .fullVerification : .noHostnameVerification
        if let roots = try roots(trust, as: "trusted certificate file") { tls.trustRoots = roots }
        if let certificate {
            tls.certificateChain = certificate.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(certificate.key)
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw TransportConfigurationError("TLS can't be set up: \(error)")
        }
    }

    /// Those that the other side's certificate must be signed by; nil for the system's.
    ///
    /// - Parameter what: what the file is to be, for people.
    /// - Throws: an error that names the file that is missing, or is not what it should be.
    package static func roots(
        _ trust: TrustedCertificates, as what: String
    ) throws(TransportConfigurationError) -> NIOSSLTrustRoots? {
        switch trust {
        case .system: nil
        case .file(let path):
            .certificates(try certificates(try ConfigurationFile.read(path, as: what), "the \(what) \(path)"))
        case .pem(let bytes): .certificates(try certificates(bytes, "the text of the trusted certificates"))
        }
    }

    private static func certificates(
        _ bytes: [UInt8], _ what: String
    ) throws(TransportConfigurationError) -> [NIOSSLCertificate] {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw TransportConfigurationError("\(what) is not PEM with certificates: \(error)")
        }
        guard !certificates.isEmpty else { throw TransportConfigurationError("\(what) holds no certificate") }
        return certificates
    }
}
