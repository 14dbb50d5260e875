import Foundation
import HoldfastOpenSSL
import HoldfastPQ
import TestPostgres
import Testing

/// A server with certificates, and clients that look at them.
@Suite("TLS to PostgreSQL", .serialized, .enabled(if: PostgresProgram.isWanted))
struct SecureTests {
    private struct Setting {
        let cluster: Cluster
        let authority: CertificateAuthority
        let folder: String

        init() throws {
            cluster = try Cluster()
            authority = try CertificateAuthority(commonName: "the tests' authority")
            // Goes away with the server.
            folder = cluster.folder
            try write("root.crt", try authority.certificate.pem())
            try cluster.write("ca.crt", try authority.certificate.pem())
            try serve(names: ["db.example"])
            try cluster.reload(["ssl": "on", "ssl_ca_file": "'ca.crt'"])
        }

        func write(_ name: String, _ bytes: [UInt8]) throws {
            let path = "\(folder)/\(name)"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }

        /// Gives the server another certificate.
        func serve(names: [String], lifetime: Duration = .seconds(86_400), by other: CertificateAuthority? = nil) throws
        {
            let (certificate, key) = try (other ?? authority).issue(
                commonName: "server", names: names.map { .dns($0) }, lifetime: lifetime)
            try cluster.write("server.crt", try certificate.pem())
            try cluster.write("server.key", try key.pem())
            try cluster.reload([:])
        }

        var base: String { "host=db.example hostaddr=127.0.0.1 port=\(cluster.port) dbname=postgres user=plain" }
        var trusting: String { "\(base) sslrootcert=\(folder)/root.crt" }
    }

    private static let setting: Result<Setting, any Error> = Result { try Setting() }
    private let setting: Setting

    init() throws { setting = try Self.setting.get() }

    /// The server takes its new certificate a moment after it was told to.
    private func eventuallyFails(_ text: String, _ words: String, location: SourceLocation = #_sourceLocation) throws {
        let hasFailed = try eventually {
            do throws(PQError) {
                _ = try connect(text)
                return false
            } catch {
                return error.kind == .unreachable && error.description.contains(words)
            }
        }
        #expect(hasFailed, sourceLocation: location)
    }

    @Test("By default the server's certificate and name are verified, and a plain server is not spoken to")
    func standard() throws {
        let facts = try connect(setting.trusting).facts
        #expect(facts.security == .verifyFull && facts.isServerVerified && !facts.isLocal)
        #expect(facts.encryption?.version == "TLSv1.3")
        #expect(facts.encryption?.cipher.isEmpty == false)
        // Not one of the system's authorities.
        let error = failure(.unreachable) { try connect(setting.base) }
        #expect(error?.description.contains("certificate verify failed") == true)
        let plain = try Servers.plain.get()
        let refusal = failure(.unreachable) {
            try connect("\(setting.trusting) port=\(plain.port)")
        }
        #expect(refusal?.description.contains("does not support SSL") == true)
    }

    @Test("A weaker mode is a wish that is told")
    func weaker() throws {
        let facts = try connect("\(setting.base) sslmode=require").facts
        #expect(facts.security == .require && !facts.isServerVerified && facts.encryption != nil)
        let none = try connect("\(setting.base) sslmode=disable").facts
        #expect(none.security == .disable && none.encryption == nil)
    }

    @Test("Megabytes go both ways, and notifications come, through TLS as without it")
    func traffic() throws {
        let connection = try connect(setting.trusting)
        var parameters = PQParameters()
        parameters.append([UInt8](repeating: 7, count: 3_000_000))
        let step = PQStep("SELECT $1", parameters, reading: true)
        let answer = try connection.run([step, step], by: soon())
        #expect(try answer.results.allSatisfy { try $0.row(0).withBytes(0) { $0.count } == 3_000_000 })
        try connection.run("LISTEN push")
        try setting.cluster.psql("NOTIFY push, 'one'")
        #expect(try connection.notifications(by: soon()).map(\.payload) == ["one"])
        try setting.cluster.psql("SELECT pg_terminate_backend(\(connection.facts.backend))")
        failure(.unreachable, "57P01") { try connection.notifications(by: soon()) }
    }

    @Test("TLS 1.2 is enough, and nothing below it is spoken")
    func versions() throws {
        #expect(
            try connect("\(setting.trusting) ssl_max_protocol_version=TLSv1.2").facts.encryption?.version == "TLSv1.2")
        failure(.configuration) {
            try connect("\(setting.trusting) ssl_max_protocol_version=TLSv1.1")
        }
    }

    @Test("A certificate of another name, an expired one, and one of another authority end the attempt")
    func wrongCertificates() throws {
        try setting.serve(names: ["other.example"])
        try eventuallyFails(setting.trusting, "does not match host name")
        #expect(try connect("\(setting.trusting) sslmode=verify-ca").facts.security == .verifyAuthority)
        try setting.serve(names: ["db.example"], lifetime: .seconds(-60))
        try eventuallyFails(setting.trusting, "certificate verify failed")
        try setting.serve(names: ["db.example"])
        #expect(try eventually { (try? connect(setting.trusting)) != nil })
        try setting.serve(names: ["db.example"], by: CertificateAuthority(commonName: "another authority"))
        try eventuallyFails(setting.trusting, "certificate verify failed")
        try setting.serve(names: ["db.example"])
        #expect(try eventually { (try? connect(setting.trusting)) != nil })
    }

    @Test("A client's certificate lets it in; without one, or without TLS, the server refuses it")
    func clientCertificate() throws {
        let (certificate, key) = try setting.authority.issue(commonName: "certified", names: [.dns("certified")])
        try setting.write("client.crt", try certificate.pem())
        try setting.write("client.key", try key.pem())
        let text = setting.trusting.replacingOccurrences(of: "user=plain", with: "user=certified")
        let folder = setting.folder
        #expect(
            try connect("\(text) sslcert=\(folder)/client.crt sslkey=\(folder)/client.key").facts.user == "certified")
        failure(.refused, "28000") { try connect(text) }
        failure(.refused, "28000") { try connect("\(text) sslmode=disable") }
    }
}
