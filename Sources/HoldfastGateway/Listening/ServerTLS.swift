public import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL

/// What a listener shows its clients, and whom of them it knows.
public struct ServerTLS: Hashable, Sendable {
    /// The server's certificate with those that lead to its authority, and its key.
    public var identity: ClientCertificate
    /// PEM with the authorities whose certificates clients may show; nil asks for none.
    public var clientAuthorities: TrustedCertificates?
    /// Whether a client without such a certificate is turned away in the handshake.
    public var requiresClientCertificate = false

    public init(identity: ClientCertificate, clientAuthorities: TrustedCertificates? = nil) {
        self.identity = identity
        self.clientAuthorities = clientAuthorities
    }

    /// Reads its files, as a listener would.
    ///
    /// - Throws: ``GatewayError`` that names the file that is missing, or is not what it should be.
    public func check() throws(GatewayError) { _ = try ServerTLSVault(self, protocols: []) }
}

/// The TLS of a listener, read from files and exchanged for what they hold later; open connections keep what they have.
final class ServerTLSVault: Sendable {
    private let protocols: [String]
    private let current: Monitor<NIOSSLContext>

    /// - Parameter protocols: what ALPN takes; none for protocols that are older than it.
    /// - Throws: ``GatewayError`` that names the file that is missing, or is not what it should be.
    init(_ settings: ServerTLS, protocols: [String]) throws(GatewayError) {
        self.protocols = protocols
        current = Monitor(try Self.context(settings, protocols))
    }

    /// For the next connection.
    var context: NIOSSLContext { current.withLock { $0 } }

    /// Reads the files anew.
    ///
    /// - Returns: what uses them, for connections from then on.
    /// - Throws: ``GatewayError`` that names the file that is wrong.
    func reloading(_ settings: ServerTLS) throws(GatewayError) -> () -> Void {
        let context = try Self.context(settings, protocols)
        return { self.current.withLock { $0 = context } }
    }

    /// Of TLS 1.2 those that keep what was said secret although the key is lost later, and that authenticate what they
    /// encrypt: neither RSA key exchange nor CBC (RFC 9113, 9.2.2 and its appendix A). TLS 1.3 has no others.
    private static let suites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// How long a client may take to answer the end of TLS.
    private static let goodbyeLimit = TimeAmount.seconds(1)

    private static func context(_ settings: ServerTLS, _ protocols: [String]) throws(GatewayError) -> NIOSSLContext {
        do throws(TransportConfigurationError) {
            let loaded = try settings.identity.load(as: "server certificate")
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: loaded.chain.map { .certificate($0) }, privateKey: .privateKey(loaded.key))
            tls.minimumTLSVersion = .tlsv12
            tls.cipherSuiteValues = suites
            tls.applicationProtocols = protocols
            tls.shutdownTimeout = goodbyeLimit
            if let authorities = settings.clientAuthorities {
                if let roots = try TrustStore.roots(authorities, as: "client authorities") { tls.trustRoots = roots }
                tls.certificateVerification =
                    settings.requiresClientCertificate ? .noHostnameVerification : .optionalVerification
            }
            do {
                return try NIOSSLContext(configuration: tls)
            } catch {
                throw TransportConfigurationError("TLS can't be set up: \(error)")
            }
        } catch {
            throw GatewayError(.configuration, error.message)
        }
    }
}
