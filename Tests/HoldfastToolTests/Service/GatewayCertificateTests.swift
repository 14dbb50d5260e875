import Foundation
import Holdfast
import Scratch
import Testing

@Suite("holdfast gateway certificate")
struct GatewayCertificateTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder("tls/\(name)"))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test(
        "It makes an authority and a server's certificate, whose keys their owner alone reads, and says how to use them"
    )
    func makes() async throws {
        let made = try await Tool.run(
            "gateway", "certificate", "--directory", folder("tls"), "--name", "push.example.net", "10.0.0.1")
        #expect(made.status == 0, "\(made.errors)")
        for name in ["ca.key", "server.key"] { #expect(try mode(name) == 0o600, "\(name)") }
        for name in ["ca.pem", "server.pem"] { #expect(try mode(name) == 0o644, "\(name)") }
        #expect(made.output.contains("for localhost, 127.0.0.1, ::1, push.example.net, 10.0.0.1; until 2"))
        #expect(
            made.output.contains("http2: {listen: \"127.0.0.1:2197\", certificate: \(folder("tls/server.pem")), key: "))
        #expect(made.output.contains("curl --http2 --cacert \(folder("tls/ca.pem"))"))
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: folder("tls")).contains { $0.hasSuffix("partial") })
    }

    @Test("What it prints can be served as it is")
    func usable() async throws {
        let made = try await Tool.run("gateway", "certificate", "--directory", folder("tls"), "--client", "a sender")
        let lines = made.output.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: "  gateway:"))
        let yaml = lines[start...].prefix { !$0.isEmpty }.map { String($0.dropFirst(2)) }.joined(separator: "\n")
        try folder.write("c.yaml", "journal: {path: j}\nroutes: [{endpoint: sandbox}]\n" + yaml)
        let check = try await Tool.run("serve", "--check", "--config", folder("c.yaml"))
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        #expect(try mode("client.key") == 0o600)
        #expect(made.output.contains("clients: \(folder("tls/ca.pem"))"))
    }

    @Test("Each certificate is for one end alone, so that the gateway's own is no client's")
    func usages() async throws {
        let made = try await Tool.run("gateway", "certificate", "--directory", folder("tls"), "--client", "a sender")
        #expect(made.status == 0)
        for (name, purpose, isGood) in [
            ("server", "sslserver", true), ("server", "sslclient", false), ("client", "sslclient", true),
            ("client", "sslserver", false),
        ] {
            let command = Process()
            command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            command.arguments = [
                "openssl", "verify", "-purpose", purpose, "-CAfile", folder("tls/ca.pem"), folder("tls/\(name).pem"),
            ]
            command.standardOutput = FileHandle.nullDevice
            command.standardError = FileHandle.nullDevice
            try command.run()
            command.waitUntilExit()
            #expect((command.terminationStatus == 0) == isGood, "\(name) as \(purpose)")
        }
    }

    @Test("What is there stays unless --replace is said, which keeps the authority")
    func replaces() async throws {
        let directory = folder("tls")
        #expect(try await Tool.run("gateway", "certificate", "--directory", directory).status == 0)
        let (authority, server) = (try folder.read("tls/ca.pem"), try folder.read("tls/server.pem"))
        let again = try await Tool.run("gateway", "certificate", "--directory", directory)
        #expect(again.status == 73 && again.errors.contains("tls/server.pem is there already"), "\(again.errors)")
        #expect(try folder.read("tls/server.pem") == server)
        let replaced = try await Tool.run("gateway", "certificate", "--directory", directory, "--replace", "--json")
        #expect(try replaced.json()["isNewAuthority"] as? Bool == false)
        #expect(try folder.read("tls/ca.pem") == authority && folder.read("tls/server.pem") != server)
        #expect(try mode("server.key") == 0o600)
        // An authority of which one half is missing is nobody's to make up.
        try FileManager.default.removeItem(atPath: folder("tls/ca.key"))
        let half = try await Tool.run("gateway", "certificate", "--directory", directory, "--replace")
        #expect(half.status == 73 && half.errors.contains("tls/ca.key is missing"), "\(half.errors)")
    }

    @Test("Whoever opens a certificate while it is made anew finds the one or the other")
    func neverGone() async throws {
        let directory = folder("tls")
        #expect(try await Tool.run("gateway", "certificate", "--directory", directory).status == 0)
        let name = folder("tls/server.key")
        // A moment without it is a short one: with ten of them it is seen.
        for _ in 0..<10 {
            let replacing = try Tool.start(["gateway", "certificate", "--directory", directory, "--replace"])
            while replacing.isRunning { try #require(FileManager.default.contents(atPath: name)?.isEmpty == false) }
            #expect(try await replacing.result().status == 0)
        }
    }

    @Test("A name that is none is refused, and nothing is made for it")
    func badName() async throws {
        let result = try await Tool.run("gateway", "certificate", "--directory", folder("tls"), "--name", "no name")
        #expect(result.status == 64 && result.errors.contains("no name"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("tls/server.pem")))
    }
}
