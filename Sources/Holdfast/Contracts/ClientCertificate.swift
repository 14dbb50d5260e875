/// The certificate that a push service knows us by, with its key, in files. They are read when the connector is made.
public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible {
    /// What the files are.
    package enum Files: Hashable, Sendable {
        case pem(certificates: String, key: String, passphrase: String?)
        case pkcs12(String, passphrase: String?)
    }

    package let files: Files

    /// PEM files, which may be one and the same.
    ///
    /// - Parameters:
    ///   - certificates: the certificate, with those that lead to its authority behind it.
    ///   - key: the private key.
    ///   - passphrase: of the key; nil where it has none.
    public static func pem(certificates: String, key: String, passphrase: String? = nil) -> ClientCertificate {
        ClientCertificate(files: .pem(certificates: certificates, key: key, passphrase: passphrase))
    }

    /// A PKCS#12 file, `.p12`, with one certificate and its key.
    ///
    /// - Parameter passphrase: nil where it has none.
    public static func pkcs12(_ path: String, passphrase: String? = nil) -> ClientCertificate {
        ClientCertificate(files: .pkcs12(path, passphrase: passphrase))
    }

    /// The certificate's path.
    public var description: String {
        switch files {
        case .pem(let path, _, _), .pkcs12(let path, _): path
        }
    }
}
