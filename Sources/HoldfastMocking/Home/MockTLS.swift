import HoldfastOpenSSL
package import NIOCore
package import NIOSSL

extension MockCredentials {
    /// The TLS settings of a mock.
    ///
    /// - Parameters:
    ///   - protocols: for ALPN; empty for no ALPN.
    ///   - requiresClientCertificate: whether clients must have a certificate of this authority.
    package func tlsContext(protocols: [String], requiresClientCertificate: Bool = false) throws -> NIOSSLContext {
        try tlsContext(
            serverCertificatePEM, serverKeyPEM, protocols: protocols,
            requiresClientCertificate: requiresClientCertificate)
    }

    /// The TLS settings for a connection that is to fail in this way; nil where TLS is not spoken at all.
    package func tlsContext(
        failing tls: MockConnectionPlan.TLS, requiresClientCertificate: Bool, greatestVersion: TLSVersion? = nil
    ) throws -> NIOSSLContext? {
        let authority = try authority()
        let pair: (certificate: Certificate, key: ES256PrivateKey)
        switch tls.way {
        case .alert, .stalled, .garbage: return nil
        case .normal:
            return try tlsContext(
                serverCertificatePEM, serverKeyPEM, protocols: ["h2"],
                requiresClientCertificate: requiresClientCertificate, greatestVersion: greatestVersion)
        case .withoutALPN: return try tlsContext(protocols: [], requiresClientCertificate: requiresClientCertificate)
        case .wrongName: pair = try authority.issue(commonName: "wrong name", names: [.dns("wrong.invalid")])
        case .untrusted:
            pair = try CertificateAuthority(commonName: "Nobody").issue(commonName: "untrusted", names: names)
        case .expired:
            // It begins yesterday, and ended an hour ago.
            pair = try authority.issue(commonName: "expired", names: names, lifetime: .seconds(-3600))
        }
        return try tlsContext(
            try pair.certificate.pem(), try pair.key.pem(), protocols: ["h2"],
            requiresClientCertificate: requiresClientCertificate)
    }

    private func tlsContext(
        _ certificatePEM: [UInt8], _ keyPEM: [UInt8], protocols: [String], requiresClientCertificate: Bool,
        greatestVersion: TLSVersion? = nil
    ) throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: certificatePEM, format: .pem)
        let key = try NIOSSLPrivateKey(bytes: keyPEM, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.maximumTLSVersion = greatestVersion
        configuration.applicationProtocols = protocols
        if requiresClientCertificate {
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: authorityPEM, format: .pem)])
            configuration.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// The TLS settings of connections, made once for each way of failing.
package final class MockTLSContexts: Sendable {
    private let credentials: MockCredentials
    private let requiresClientCertificate: Bool
    /// nil for the newest version available.
    private let greatestVersion: TLSVersion?
    private let made = Locked<[MockConnectionPlan.TLS: NIOSSLContext]>([:])

    package init(_ credentials: MockCredentials, requiresClientCertificate: Bool, isLimitedToTLS12: Bool) throws {
        self.credentials = credentials
        greatestVersion = isLimitedToTLS12 ? .tlsv12 : nil
        self.requiresClientCertificate = requiresClientCertificate
        _ = try context(.normal)
    }

    /// nil where TLS is not spoken at all.
    package func context(_ tls: MockConnectionPlan.TLS) throws -> NIOSSLContext? {
        if let context = made.withLock({ $0[tls] }) { return context }
        let context = try credentials.tlsContext(
            failing: tls, requiresClientCertificate: requiresClientCertificate, greatestVersion: greatestVersion)
        made.withLock { $0[tls] = context }
        return context
    }
}

/// Replaces TLS, and answers the client's hello with bytes that are no handshake.
package final class MockTLSBreaker: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The bytes before the close; nil for no answer at all.
    private let answer: [UInt8]?

    /// - Returns: nil for ways that speak TLS.
    package init?(_ tls: MockConnectionPlan.TLS) {
        switch tls.way {
        // Alert, TLS 1.2, 2 bytes: fatal, handshake_failure (RFC 8446 section 6).
        case .alert: answer = [21, 3, 3, 0, 2, 2, 40]
        case .garbage: answer = Array("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".utf8)
        case .stalled: answer = nil
        case .normal, .wrongName, .untrusted, .expired, .withoutALPN: return nil
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let answer else { return }
        let isolated = context.loopBound
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer))).assumeIsolated().whenComplete { _ in
            isolated.value.close(mode: .output, promise: nil)
        }
    }
}
