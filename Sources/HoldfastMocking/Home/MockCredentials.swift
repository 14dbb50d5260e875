import Foundation
package import HoldfastOpenSSL

/// The certificates and keys of a mock service, in a directory that outlives it.
package struct MockCredentials: Sendable {
    package let serverCertificatePEM: [UInt8]
    package let serverKeyPEM: [UInt8]
    /// The authority's certificate.
    package let authorityPEM: [UInt8]
    /// The names that the server's certificate is issued for.
    package let names: [SubjectName]
    private let authorityKeyPEM: [UInt8]

    /// The names of the files.
    package enum File {
        package static let authority = "ca.pem"
        package static let authorityKey = "ca.key"
        package static let server = "server.pem"
        package static let serverKey = "server.key"
        package static let client = "client.pem"
        package static let clientKey = "client.key"
    }

    /// A certificate that expires sooner than this is made anew.
    private static let renewal = Duration.seconds(30 * 86_400)

    /// Reads the files of the directory, and makes those that are missing, damaged or about to expire.
    ///
    /// - Throws: when the directory cannot be made or written, and when a key in it is damaged: its owner may still
    ///   need the key, so it is not replaced.
    package init(directory: String, names: [String]) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw MockError("the certificate directory \(directory) can't be made", because: error)
        }
        let files = MockFiles(directory: directory)
        let authority = try Self.authority(files)
        authorityPEM = try authority.certificate.pem()
        authorityKeyPEM = try authority.key.pem()
        try Self.provideClient(files, authority)
        self.names = names.map { name in
            name.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") } || name.contains(":")
                ? SubjectName.ip(name) : SubjectName.dns(name)
        }
        (serverCertificatePEM, serverKeyPEM) = try Self.pair(
            files, authority, self.names, File.server, File.serverKey, for: "Holdfast mock push service")
    }

    package func authority() throws -> CertificateAuthority {
        try CertificateAuthority(certificatePEM: authorityPEM, keyPEM: authorityKeyPEM)
    }

    /// The certificate that a client shows to a server that asks for one.
    private static func provideClient(_ files: MockFiles, _ authority: CertificateAuthority) throws {
        let name = "Holdfast mock client"
        _ = try pair(files, authority, [.dns("client.invalid")], File.client, File.clientKey, for: name)
    }

    /// The certificate and key in these files, made anew where they are missing or unusable.
    private static func pair(
        _ files: MockFiles, _ authority: CertificateAuthority, _ names: [SubjectName], _ certificateFile: String,
        _ keyFile: String, for commonName: String
    ) throws -> (certificate: [UInt8], key: [UInt8]) {
        if let existing = try existing(files, authority, names, certificateFile, keyFile) { return existing }
        let (certificate, key) = try authority.issue(commonName: commonName, names: names)
        let (certificatePEM, keyPEM) = (try certificate.pem(), try key.pem())
        try files.write(keyPEM, to: keyFile, isSecret: true)
        try files.write(certificatePEM, to: certificateFile, isSecret: false)
        return (certificatePEM, keyPEM)
    }

    private static func authority(_ files: MockFiles) throws -> CertificateAuthority {
        if let certificate = try files.read(File.authority), let key = try files.read(File.authorityKey) {
            let authority = try files.naming(File.authority) { () throws(OpenSSLError) in
                try CertificateAuthority(certificatePEM: certificate, keyPEM: key)
            }
            if authority.certificate.isValid(for: renewal) { return authority }
        }
        let authority = try CertificateAuthority(commonName: "Holdfast mock authority")
        try files.write(authority.key.pem(), to: File.authorityKey, isSecret: true)
        try files.write(authority.certificate.pem(), to: File.authority, isSecret: false)
        return authority
    }

    /// nil when a new certificate is needed.
    private static func existing(
        _ files: MockFiles, _ authority: CertificateAuthority, _ names: [SubjectName], _ certificateFile: String,
        _ keyFile: String
    ) throws -> (certificate: [UInt8], key: [UInt8])? {
        guard let certificatePEM = try files.read(certificateFile), let keyPEM = try files.read(keyFile),
            let certificate = try? Certificate(pem: certificatePEM), let key = try? ES256PrivateKey(pem: keyPEM),
            certificate.certifies(key), certificate.isIssued(by: authority.certificate),
            certificate.isValid(for: renewal), names.allSatisfy(certificate.names)
        else { return nil }
        return (certificatePEM, keyPEM)
    }
}
