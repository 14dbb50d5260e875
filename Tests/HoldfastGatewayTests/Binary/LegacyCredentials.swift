import Foundation
import Holdfast
import HoldfastOpenSSL

@testable import HoldfastGateway

/// An authority with what it has signed, as files in a directory of its own: a server's certificate for 127.0.0.1, and
/// clients'.
struct LegacyCredentials {
    private let directory: URL
    var authority: String { path("ca.pem") }

    /// Makes them, and removes them whatever happens.
    static func run<R>(_ body: (LegacyCredentials) async throws -> R) async throws -> R {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(LegacyCredentials(directory))
    }

    private init(_ directory: URL) throws {
        self.directory = directory
        let authority = try CertificateAuthority(commonName: "Tests")
        try write(authority.certificate.pem(), "ca.pem")
        try write(authority.key.pem(), "ca.key")
        let (certificate, key) = try authority.issue(commonName: "gateway", names: [.ip("127.0.0.1")])
        try write(certificate.pem(), "server.pem")
        try write(key.pem(), "server.key")
    }

    /// - Parameter clients: whether to ask clients for a certificate of the authority's.
    func server(clients: Bool = false) -> ServerTLS {
        ServerTLS(
            identity: .pem(certificates: path("server.pem"), key: path("server.key")),
            clientAuthorities: clients ? .file(authority) : nil)
    }

    /// A certificate of the authority's.
    ///
    /// - Parameter topic: in it as in Apple's, the subject's user identifier; nil for one that says none.
    func client(topic: String?) throws -> ClientCertificate {
        let name = "client-\(topic ?? "none")"
        let command = Process()
        command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        command.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", (topic.map { "/UID=\($0)" } ?? "") + "/CN=Apple Push Services", "-CA", authority, "-CAkey",
            path("ca.key"), "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=clientAuth",
            "-keyout", path("\(name).key"), "-out", path("\(name).pem"),
        ]
        command.standardError = FileHandle.nullDevice
        try command.run()
        command.waitUntilExit()
        return .pem(certificates: path("\(name).pem"), key: path("\(name).key"))
    }

    private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }
}
