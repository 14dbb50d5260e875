internal import HoldfastTransport

/// The certificate that the service knows us by, with its key, in files. They are read when the connector is made.
public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible {
    let identity: ClientIdentity
    public let description: String

    /// PEM files, which may be one and the same.
    ///
    /// - Parameters:
    ///   - certificates: the certificate, with those that lead to its authority behind it.
    ///   - key: the private key.
    ///   - passphrase: of the key; nil where it has none.
    public static func pem(certificates: String, key: String, passphrase: String? = nil) -> ClientCertificate {
        ClientCertificate(
            identity: .pem(certificates: certificates, key: key, passphrase: passphrase), description: certificates)
    }

    /// A PKCS#12 file, `.p12`, with one certificate and its key.
    ///
    /// - Parameter passphrase: nil where it has none.
    public static func pkcs12(_ path: String, passphrase: String? = nil) -> ClientCertificate {
        ClientCertificate(identity: .pkcs12(path, passphrase: passphrase), description: path)
    }
}
