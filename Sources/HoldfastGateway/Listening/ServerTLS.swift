public import Holdfast
internal import HoldfastTransport
internal import NIOCore
internal import NIOSSL

/// The TLS of a listener: its certificate, and the clients it accepts.
public struct ServerTLS: Hashable, Sendable {
    /// The server's certificate with the intermediate ones, and its key.
    public var identity: ClientCertificate
    /// The authorities that sign clients' certificates, in PEM; nil asks clients for no certificate. Default: nil.
    public var clientAuthorities: TrustedCertificates?
    /// The revocation lists of those authorities and of others below them, in PEM, or one in DER. Each authority above
    /// a client needs a list that is not out of date. Nil checks no revocation. Default: nil.
    public var clientRevocations: CredentialSource?
    /// The interval at which the file of the revocation lists is checked. Default: 10 s.
    public var clientRevocationsInterval: Duration = .seconds(10)
    /// The clients with such a certificate that may submit; nil for all clients and all topics. Default: nil.
    public var clientSubjects: [ClientSubject]?
    /// Whether a client without such a certificate is refused in the handshake. Default: no.
    public var requiresClientCertificate = false

    /// Creates TLS settings; every other setting starts at its default.
    public init(identity: ClientCertificate, clientAuthorities: TrustedCertificates? = nil) {
        self.identity = identity
        self.clientAuthorities = clientAuthorities
    }

    /// Reads the certificate and its key as a listener would.
    ///
    /// - Throws: ``GatewayError`` that names the file that is missing or invalid.
    package func checkIdentity() throws(GatewayError) {
        _ = try ServerTLSVault(ServerTLS(identity: identity), protocols: [])
    }

    /// Reads the clients' authorities and their revocation lists as a listener would.
    ///
    /// - Throws: ``GatewayError`` that names the file that is missing or invalid.
    package func checkClients() throws(GatewayError) {
        guard let clientAuthorities else { return }
        do throws(TransportConfigurationError) {
            _ = try ClientJudge(self, authorities: clientAuthorities, after: nil)
        } catch {
            throw GatewayError(.configuration, error.message)
        }
    }

    /// Reads its revocation lists and names those that are out of date, one line each: clients of their authorities are
    /// refused.
    ///
    /// - Throws: ``GatewayError`` that names the file that is missing or invalid.
    package func warnings() throws(GatewayError) -> [String] {
        guard let clientRevocations else { return [] }
        do throws(TransportConfigurationError) {
            return try TrustStore.warnings(clientRevocations, now: EngineClock.system.wall().seconds)
        } catch {
            throw GatewayError(.configuration, error.message)
        }
    }
}

/// The TLS of a listener, read from files and replaced when they change.
final class ServerTLSVault: Sendable {
    private struct Terms: Sendable {
        let settings: ServerTLS
        let context: NIOSSLContext
        let judge: ClientJudge?
        /// The certificate's last good second, in Unix seconds.
        let end: Int64
        var watch: CredentialWatch
    }

    private let protocols: [String]
    private let current: Monitor<Terms>

    /// - Parameter protocols: for ALPN; empty for no ALPN.
    /// - Throws: ``GatewayError`` that names the file that is missing or invalid.
    init(_ settings: ServerTLS, protocols: [String]) throws(GatewayError) {
        self.protocols = protocols
        current = Monitor(try Self.terms(settings, protocols, after: nil))
    }

    /// Judges clients' certificates; nil where none is asked for.
    var judge: ClientJudge? { current.withLock(\.judge) }

    var settings: ServerTLS { current.withLock(\.settings) }

    /// The certificate in use, by the name of its file, and its last good second in Unix seconds.
    var certificateEnd: (file: String, notAfter: Int64) {
        let (settings, end) = current.withLock { ($0.settings, $0.end) }
        return (settings.identity.fileName, end)
    }

    /// The handlers of the next connection, the nearest to the socket first.
    func handlers(for channel: any Channel, _ door: ListenerDoor) -> [any ChannelHandler] {
        let terms = current.withLock { $0 }
        let gate = ClientGate(self, terms.judge, door)
        guard terms.judge != nil else { return [NIOSSLServerHandler(context: terms.context), gate] }
        let bound = NIOLoopBound(gate, eventLoop: channel.eventLoop)
        let tls = NIOSSLServerHandler(context: terms.context) { chain, promise in
            promise.succeed(bound.value.admits(chain, peer: channel.remoteAddress) ? .certificateVerified : .failed)
        }
        return [tls, gate]
    }

    /// Reads the files anew.
    ///
    /// - Returns: a closure that takes them up, for further connections.
    /// - Throws: ``GatewayError`` that names the faulty file.
    func reloading(_ settings: ServerTLS) throws(GatewayError) -> () -> Void {
        let terms = try Self.terms(settings, protocols, after: judge)
        return { self.current.withLock { $0 = terms } }
    }

    /// Checks whether the revocation lists have changed, and takes them up. May wait for the disk.
    ///
    /// Sessions can't be resumed afterwards, since a resumption shows no certificate.
    func lookAtRevocations() -> WatchedFiles.Look {
        let terms = current.withLock { $0 }
        let stamps = Self.stamps(terms.settings)
        guard terms.watch.wantsLoad(stamps) else { return .unchanged }
        do throws(GatewayError) {
            var new = try Self.terms(terms.settings, protocols, after: terms.judge)
            new.watch = CredentialWatch(used: stamps)
            // Another configuration may have been taken up meanwhile, which has read them itself.
            return current.withLock { now in
                guard now.settings == terms.settings else { return .unchanged }
                now = new
                return .taken
            }
        } catch {
            let tells = current.withLock { $0.watch.failed(stamps, isAsked: false) }
            return tells ? .failed(error.message) : .unchanged
        }
    }

    private static func stamps(_ settings: ServerTLS) -> [FileStamp] {
        if case .file(let path) = settings.clientRevocations { [FileStamp(path)] } else { [] }
    }

    /// The cipher suites of TLS 1.2 with forward secrecy and authenticated encryption: neither RSA key exchange nor CBC
    /// (RFC 9113, 9.2.2 and its appendix A). TLS 1.3 has no others.
    private static let suites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The time a client has to answer close_notify.
    private static let goodbyeLimit = TimeAmount.seconds(1)

    private static func terms(
        _ settings: ServerTLS, _ protocols: [String], after former: ClientJudge?
    ) throws(GatewayError) -> Terms {
        // Before they are read: later changes are read again.
        let watch = CredentialWatch(used: stamps(settings))
        do throws(TransportConfigurationError) {
            let loaded = try settings.identity.load(as: "server certificate")
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: loaded.chain.map { .certificate($0) }, privateKey: .privateKey(loaded.key))
            tls.minimumTLSVersion = .tlsv12
            tls.cipherSuiteValues = suites
            tls.applicationProtocols = protocols
            tls.shutdownTimeout = goodbyeLimit
            var judge: ClientJudge?
            if let authorities = settings.clientAuthorities {
                judge = try ClientJudge(settings, authorities: authorities, after: former)
                // Asks for certificates; only the judge knows which are valid.
                tls.trustRoots = .certificates([])
                tls.certificateVerification =
                    settings.requiresClientCertificate ? .noHostnameVerification : .optionalVerification
            }
            do {
                return Terms(
                    settings: settings, context: try NIOSSLContext(configuration: tls), judge: judge,
                    end: loaded.notAfter,
                    watch: watch)
            } catch {
                throw TransportConfigurationError("TLS can't be set up: \(error)")
            }
        } catch {
            throw GatewayError(.configuration, error.message)
        }
    }
}
