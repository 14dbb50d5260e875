internal import Holdfast
internal import NIOSSL

extension ClientCertificate {
    struct Loaded {
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
    }

    /// - Throws: an error that names the file and what is wrong with it.
    func load() throws(TransportConfigurationError) -> Loaded {
        switch files {
        case .pem(let certificates, let key, let passphrase):
            return Loaded(
                chain: try Self.chain(certificates), key: try Self.key(key, passphrase: passphrase))
        case .pkcs12(let path, let passphrase):
            let bytes = try ConfigurationFile.read(path, as: "client certificate")
            do {
                let bundle =
                    try passphrase.map { try NIOSSLPKCS12Bundle(buffer: bytes, passphrase: $0.utf8) }
                    ?? NIOSSLPKCS12Bundle(buffer: bytes)
                return Loaded(chain: bundle.certificateChain, key: bundle.privateKey)
            } catch {
                throw TransportConfigurationError(
                    "the client certificate \(path) can't be used: it is no PKCS#12 file, or the passphrase is wrong")
            }
        }
    }

    private static func chain(_ path: String) throws(TransportConfigurationError) -> [NIOSSLCertificate] {
        let bytes = try ConfigurationFile.read(path, as: "client certificate")
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
            throw TransportConfigurationError("the client certificate \(path) is not PEM with certificates")
        }
        return chain
    }

    private static func key(_ path: String, passphrase: String?) throws(TransportConfigurationError) -> NIOSSLPrivateKey
    {
        let bytes = try ConfigurationFile.read(path, as: "key of the client certificate")
        do {
            guard let passphrase else { return try NIOSSLPrivateKey(bytes: bytes, format: .pem) }
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem) { set in set(passphrase.utf8) }
        } catch {
            throw TransportConfigurationError(
                "the key of the client certificate, \(path), can't be used: it is no PEM key, or the passphrase is wrong"
            )
        }
    }
}
