internal import Foundation
package import Holdfast
package import HoldfastOpenSSL
package import NIOSSL

extension ClientCertificate {
    /// A certificate that can be shown: read, and found to be good.
    package struct Loaded: Sendable {
        /// The key's own first.
        package let chain: [NIOSSLCertificate]
        package let key: NIOSSLPrivateKey
        /// The facts in the first certificate of the chain.
        package let facts: CertificateFacts
        /// Unix seconds: its last good second.
        package var notAfter: Int64 { facts.notAfter }
    }

    /// Parses the files with libcrypto, and passes the result to the TLS library.
    ///
    /// - Parameters:
    ///   - now: compared with its dates.
    ///   - role: its role, for people: a server has a certificate, too.
    /// - Throws: an error that names the file, the fault and the remedy, but never the content.
    package func load(
        at now: WallTime = EngineClock.system.wall(), as role: String = Self.role
    ) throws(TransportConfigurationError) -> Loaded {
        let (chain, key) = try read(role)
        let named = named(role)
        let facts = try Self.saying(named) { () throws(OpenSSLError) in try chain[0].facts() }
        guard facts.notAfter >= now.seconds else {
            throw TransportConfigurationError(
                "\(named) expired on \(Self.text(facts.notAfter)): get a new one, and put it in its place")
        }
        guard facts.notBefore <= now.seconds else {
            throw TransportConfigurationError(
                "\(named) is good only from \(Self.text(facts.notBefore)) on: check this machine's clock")
        }
        do {
            var certificates: [NIOSSLCertificate] = []
            for certificate in chain {
                certificates.append(try NIOSSLCertificate(bytes: try certificate.der(), format: .der))
            }
            return Loaded(
                chain: certificates, key: try NIOSSLPrivateKey(bytes: try key.pem(), format: .pem), facts: facts)
        } catch {
            throw TransportConfigurationError("\(named) can't be used for TLS: its key is a \(key.kind) one (\(error))")
        }
    }

    /// The role of a sender's certificate.
    package static var role: String { "client certificate" }

    /// Its name in messages.
    package var named: String { named(Self.role) }

    /// The path of its file, or what stands in its place.
    package var fileName: String {
        switch content {
        case .pem(let source, _), .pkcs12(let source):
            if case .file(let path) = source { path } else { "a certificate in the configuration" }
        }
    }

    private func named(_ role: String) -> String {
        switch content {
        case .pem(let source, _), .pkcs12(let source): "the \(source.named(role))"
        }
    }

    /// The chain with the key's own certificate first, and the key.
    private func read(_ role: String) throws(TransportConfigurationError) -> ([Certificate], PrivateKey) {
        let passphrase = try passphrase?.read()
        switch content {
        case .pem(let certificates, let key):
            return try pem(certificates, key, passphrase, role)
        case .pkcs12(let source):
            let bytes = try source.read(as: role)
            let bundle = try Self.saying(named(role)) { () throws(OpenSSLError) in
                try PKCS12Bundle(bytes, passphrase: passphrase)
            }
            return (bundle.certificates, bundle.key)
        }
    }

    private func pem(
        _ certificates: CredentialSource, _ keySource: CredentialSource, _ passphrase: [UInt8]?, _ role: String
    ) throws(TransportConfigurationError) -> ([Certificate], PrivateKey) {
        let certificateBytes = try certificates.read(as: role)
        let named = named(role)
        var chain = try Self.saying(named) { () throws(OpenSSLError) in
            try Certificate.chain(pem: certificateBytes)
        }
        let keyBytes = try keySource.read(as: "key of the \(role)")
        let keyName = "the \(keySource.named("key of the \(role)"))"
        let key = try Self.saying(keyName) { () throws(OpenSSLError) in
            try PrivateKey(pem: keyBytes, passphrase: passphrase)
        }
        guard let own = chain.firstIndex(where: { $0.certifies(key) }) else {
            throw TransportConfigurationError(
                "\(keyName) is not the key of \(certificates == keySource ? "the certificate beside it" : named): "
                    + "each certificate has a key of its own")
        }
        if own > 0 { chain.insert(chain.remove(at: own), at: 0) }
        return (chain, key)
    }

    private static func saying<R>(
        _ name: String, _ body: () throws(OpenSSLError) -> R
    ) throws(TransportConfigurationError) -> R {
        do throws(OpenSSLError) {
            return try body()
        } catch {
            throw TransportConfigurationError("\(name) can't be used: \(error)")
        }
    }

    /// Unix seconds as `2027-03-01T12:00:00Z`.
    package static func text(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}
