import NIOSSL

extension MockCredentials {
    /// How a mock presents itself.
    ///
    /// - Parameters:
    ///   - protocols: for ALPN; none for none.
    ///   - requiresClientCertificate: whether clients must have one of this authority's.
    func tlsContext(protocols: [String], requiresClientCertificate: Bool = false) throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: serverCertificatePEM, format: .pem)
        let key = try NIOSSLPrivateKey(bytes: serverKeyPEM, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        if requiresClientCertificate {
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: authorityPEM, format: .pem)])
            configuration.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
