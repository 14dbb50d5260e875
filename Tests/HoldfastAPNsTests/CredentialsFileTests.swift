import Foundation
import Holdfast
import HoldfastOpenSSL
import HoldfastTransport
import Testing

@testable import HoldfastAPNs

/// What a connector makes of files, and says of those that it can't use.
@Suite("Files of credentials") struct CredentialsFileTests {
    private let directory = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    /// The `openssl` command, in the directory.
    private func openssl(_ arguments: String..., more: [String] = []) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments + more
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments)")
    }

    private func makePair(_ name: String, _ more: [String] = ["-subj", "/CN=x"]) throws {
        try write(ES256PrivateKey().pem(), "\(name).key")
        try openssl(
            "req", "-x509", "-new", "-key", "\(name).key", "-days", "30", "-out", "\(name).pem", more: more)
    }

    private func message(_ certificate: ClientCertificate, _ endpoint: APNsEndpoint = .sandbox) -> String {
        do throws(APNsConfigurationError) {
            _ = try APNsConnector(APNsConnector.Configuration(endpoint: endpoint, clientCertificate: certificate))
            return "accepted"
        } catch {
            return error.message
        }
    }

    @Test("A certificate is taken from .p12 old and new, PEM in files, in memory, and with its passphrase in a file")
    func forms() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try makePair("a")
        try write(Array("secret phrase\nsecond line\n".utf8), "phrase")
        for (name, options) in [("new.p12", []), ("old.p12", ["-legacy"])] {
            try openssl(
                "pkcs12", "-export", "-in", "a.pem", "-inkey", "a.key", "-passout", "pass:secret phrase", "-out", name,
                more: options)
        }
        try openssl("pkcs8", "-topk8", "-in", "a.key", "-passout", "pass:secret phrase", "-out", "locked.key")
        let certificate = Array(try Data(contentsOf: URL(fileURLWithPath: path("a.pem"))))
        let key = Array(try Data(contentsOf: URL(fileURLWithPath: path("a.key"))))
        let bundle = Array(try Data(contentsOf: URL(fileURLWithPath: path("old.p12"))))
        for good in [
            ClientCertificate.pkcs12(path("new.p12"), passphrase: "secret phrase"),
            .pkcs12(.file(path("old.p12")), passphrase: .file(path("phrase"))),
            .pkcs12(.bytes(bundle), passphrase: .text("secret phrase")),
            .pem(certificates: path("a.pem"), key: path("a.key")),
            .pem(certificates: .file(path("a.pem")), key: .file(path("locked.key")), passphrase: .file(path("phrase"))),
            .pem(certificates: .bytes(certificate + key), key: .bytes(key + certificate)),
            .pem(certificates: .pem(String(decoding: certificate, as: UTF8.self)), key: .file(path("a.key"))),
        ] { #expect(message(good) == "accepted") }
    }

    @Test("What is wrong with a certificate names the file and what it is, and never tells a secret") func faults()
        throws
    {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try makePair("a")
        try makePair("b")
        try openssl(
            "pkcs12", "-export", "-in", "a.pem", "-inkey", "a.key", "-passout", "pass:right", "-out", "a.p12")
        try openssl("pkcs8", "-topk8", "-in", "a.key", "-passout", "pass:right", "-out", "locked.key")
        try openssl("genpkey", "-algorithm", "X25519", "-out", "x.key")
        let authority = try CertificateAuthority(commonName: "Authority")
        let (expired, key) = try authority.issue(
            commonName: "old", names: [.dns("x.invalid")], lifetime: .seconds(-3600))
        try write(try expired.pem() + key.pem(), "expired.pem")
        for (certificate, words) in [
            (ClientCertificate.pkcs12(path("none.p12")), ["\(path("none.p12"))", "no such file"]),
            (.pkcs12(directory), [directory, "can't be read"]),
            (.pkcs12(path("a.pem")), ["\(path("a.pem"))", "PEM"]),
            (.pkcs12(path("a.p12"), passphrase: "wr0ng"), ["\(path("a.p12"))", "the passphrase is not that"]),
            (.pkcs12(path("a.p12")), ["\(path("a.p12"))", "has a passphrase, and none is given"]),
            (
                .pkcs12(.file(path("a.p12")), passphrase: .file(path("no"))),
                ["passphrase file \(path("no"))", "no such file"]
            ),
            (
                .pem(certificates: path("a.pem"), key: path("b.key")),
                ["\(path("b.key")) is not the key of", path("a.pem")]
            ),
            (.pem(certificates: path("a.pem"), key: path("x.key")), ["\(path("x.key"))", "X25519 private key"]),
            (
                .pem(certificates: path("a.key"), key: path("a.key")),
                ["\(path("a.key"))", "holds no certificate but: private key"]
            ),
            (
                .pem(certificates: path("a.pem"), key: path("a.pem")),
                ["\(path("a.pem"))", "no private key but: certificate"]
            ),
            (
                .pem(certificates: path("a.pem"), key: path("locked.key"), passphrase: "wr0ng"),
                ["\(path("locked.key"))", "passphrase is not that"]
            ),
            (.pem(certificates: path("a.pem"), key: path("locked.key")), ["\(path("locked.key"))", "is encrypted"]),
            (
                .pem(certificates: path("expired.pem"), key: path("expired.pem")),
                ["\(path("expired.pem")) expired on 20", "get a new one"]
            ),
        ] {
            let message = message(certificate)
            for word in words { #expect(message.contains(word), "\(message)") }
            #expect(!message.contains("wr0ng") && !message.contains("right"))
        }
    }

    @Test("A key and a certificate on one route are refused; neither is not") func both() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try makePair("a")
        var configuration = APNsConnector.Configuration(
            endpoint: .sandbox, clientCertificate: .pem(certificates: path("a.pem"), key: path("a.key")))
        configuration.signingKey = try APNsSigningKey(file: path("a.key"), keyID: "K", teamID: "T")
        let error = #expect(throws: APNsConfigurationError.self) { try APNsConnector(configuration) }
        #expect(error?.message.contains("a signing key and a client certificate on one route") == true)
    }

    @Test("A certificate's topics are the connector's, and its environment must be the endpoint's") func topics() throws
    {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try makePair(
            "sandbox",
            [
                "-subj", "/UID=com.example.app/CN=Apple Sandbox Push Services", "-addext",
                "1.2.840.113635.100.6.3.1=DER:05:00",
            ])
        let certificate = ClientCertificate.pem(certificates: path("sandbox.pem"), key: path("sandbox.key"))
        let connector = try APNsConnector(
            APNsConnector.Configuration(endpoint: .sandbox, clientCertificate: certificate))
        #expect(connector.limits.topics == ["com.example.app"])
        #expect(try APNsConnector(APNsConnector.Configuration(endpoint: .sandbox)).limits.topics == nil)
        #expect(message(certificate, .production).contains("is for the sandbox only"))
        // Whose host is another's may be for both.
        #expect(message(certificate, try APNsEndpoint("https://push.example.com")) == "accepted")
    }

    @Test("Nothing that may be printed of a credential shows what is in it") func descriptions() {
        let secret = "MIGTAgEAMBMGByqGSM49"
        let certificate = ClientCertificate.pem(
            certificates: .pem(secret), key: .bytes(Array(secret.utf8)), passphrase: .text(secret))
        for text in [
            "\(certificate)", String(reflecting: certificate), "\(CredentialSource.pem(secret))",
            String(reflecting: CredentialSource.pem(secret)), "\(Passphrase.text(secret))",
            String(reflecting: [Passphrase.text(secret)]), String(reflecting: [certificate]),
        ] { #expect(!text.contains(secret) && !text.contains("\(Array(secret.utf8)[0])"), "\(text)") }
    }
}
