package import Holdfast
package import HoldfastOpenSSL
internal import NIOCore
package import NIOSSL

/// The TLS of a connector: 1.2 or newer, with the service's certificate and name verified.
///
/// NIOSSL does TLS itself. libcrypto verifies the other side here: NIOSSL accepts, for any name, a certificate for the
/// address that the socket is connected to.
package struct ClientTLS: Sendable {
    private let context: NIOSSLContext
    /// Set when the service asks for a certificate and there is none to show.
    private let missing: Monitor<Bool>?
    private let verifier: CertificateVerifier
    private let verifiesName: Bool
    private let end = Monitor<Int64?>(nil)

    /// - Parameters:
    ///   - protocols: for ALPN; empty for protocols that are older than it.
    ///   - certificate: nil shows none.
    ///   - verifiesHostName: false accepts any name in an otherwise valid certificate. The chain is always verified.
    /// - Throws: an error that names the file that is missing or invalid.
    package init(
        trust: TrustedCertificates, protocols: [String] = [], certificate: ClientCertificate.Loaded? = nil,
        verifiesHostName: Bool = true
    ) throws(TransportConfigurationError) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = protocols
        // Not `none`, so that the verifier is called; it alone knows the trusted certificates.
        tls.certificateVerification = .noHostnameVerification
        tls.trustRoots = .certificates([])
        if let certificate {
            tls.certificateChain = certificate.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(certificate.key)
            missing = nil
        } else {
            let missing = Monitor(false)
            tls.sslContextCallback = { _, promise in
                missing.withLock { $0 = true }
                promise.succeed(.noChanges)
            }
            self.missing = missing
        }
        do {
            context = try NIOSSLContext(configuration: tls)
        } catch {
            throw TransportConfigurationError("TLS can't be set up: \(error)")
        }
        verifier = try TrustStore.verifier(trust, as: "trusted certificate file")
        verifiesName = verifiesHostName
    }

    /// Whether the service has asked for a certificate and got none. TLS 1.2 has no alert of its own for the failure
    /// that follows.
    package var lacksCertificate: Bool { missing?.withLock { $0 } ?? false }

    /// Until when the chain is good that the service has shown last, in Unix seconds; nil before the first.
    package var serviceEnd: Int64? { end.withLock { $0 } }

    /// Makes the handler of one connection.
    ///
    /// - Parameters:
    ///   - name: the required name of the other side. A host name is sent by SNI, too.
    ///   - seen: called with the certificates that are shown, good or not, on the loop.
    ///   - fails: called with the fault of the certificate, on the loop, before the handshake fails.
    package func handler(
        for name: SubjectName, seen: (@Sendable ([Certificate]) -> Void)? = nil,
        fails: @escaping @Sendable (CertificateFault) -> Void
    ) throws -> NIOSSLClientHandler {
        let asked: String? =
            switch name {
            case .dns(let host): host
            case .ip: nil
            }
        let role = CertificateVerifier.Role.server(verifiesName ? name : nil)
        return try NIOSSLClientHandler(context: context, serverHostname: asked) { [verifier, end] chain, promise in
            switch Self.verdict(on: chain, as: role, by: verifier, seen) {
            case .bad(let fault):
                fails(fault)
                promise.succeed(.failed)
            case .good(let path):
                end.withLock { $0 = path.goodUntil }
                promise.succeed(.certificateVerified)
            }
        }
    }

    private static func verdict(
        on chain: [NIOSSLCertificate], as role: CertificateVerifier.Role, by verifier: CertificateVerifier,
        _ seen: (@Sendable ([Certificate]) -> Void)?
    ) -> CertificateVerdict {
        var certificates: [Certificate] = []
        for certificate in chain.prefix(Certificate.greatestChain) {
            guard let bytes = try? certificate.toDERBytes(), let read = try? Certificate(der: bytes, from: "one shown")
            else { return .bad(.other("one of those shown can't be read")) }
            certificates.append(read)
        }
        seen?(certificates)
        do throws(OpenSSLError) {
            return try verifier.verdict(on: certificates, as: role)
        } catch {
            return .bad(.other("\(error)"))
        }
    }
}
