import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import RawClients
import Testing

@Suite("Certificates and keys of the mock")
struct CredentialTests {
    @Test("Keys are readable by their owner only, certificates by all, and the directory is the owner's")
    func modes() async throws {
        try await withDirectory { parent in
            let directory = parent + "/new/certificates"
            try await withServer {
                $0.certificateDirectory = directory
            } _: { server async throws in
                #expect(server.certificateAuthorityFile == directory + "/ca.pem")
                #expect(server.providerKeyFile == directory + "/AuthKey.p8")
            }
            #expect(try mode(of: directory) == 0o700)
            for name in ["ca.key", "server.key", "client.key", "AuthKey.p8"] {
                #expect(try mode(of: "\(directory)/\(name)") == 0o600)
            }
            for name in ["ca.pem", "server.pem", "client.pem", "AuthKey.pub.pem"] {
                #expect(try mode(of: "\(directory)/\(name)") == 0o644)
            }
            let names = [
                "AuthKey.p8", "AuthKey.pub.pem", "ca.key", "ca.pem", "client.key", "client.pem", "server.key",
                "server.pem",
            ]
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == names)
        }
    }

    @Test("A second server uses what the first one made")
    func reuse() async throws {
        try await withDirectory { directory in
            func start() async throws -> [String: Data] {
                try await withServer {
                    $0.certificateDirectory = directory
                } _: { server async throws in
                    #expect(try await Curl().send(to: server).status == 200)
                }
                var contents: [String: Data] = [:]
                for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                    contents[name] = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
                }
                return contents
            }
            let first = try await start()
            #expect(first.count == 8)
            #expect(try await start() == first)
        }
    }

    @Test("A server certificate that is lost, damaged or about to expire is made anew under the same authority")
    func renewal() async throws {
        try await withDirectory { directory in
            func serve() async throws {
                try await withServer {
                    $0.certificateDirectory = directory
                } _: { server async throws in
                    #expect(try await Curl().send(to: server).status == 200)
                }
            }
            func contents(_ name: String) throws -> [UInt8] {
                Array(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)")))
            }
            func write(_ bytes: [UInt8], to name: String) throws {
                try Data(bytes).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
            }
            try await serve()
            let authority = try contents("ca.pem")
            try FileManager.default.removeItem(atPath: directory + "/server.key")
            try await serve()
            try write(Array("damaged".utf8), to: "server.pem")
            try await serve()
            let ca = try CertificateAuthority(certificatePEM: authority, keyPEM: contents("ca.key"))
            let short = try ca.issue(
                commonName: "Short", names: [.dns("localhost"), .ip("127.0.0.1"), .ip("::1")],
                lifetime: .seconds(86_400))
            try write(short.certificate.pem(), to: "server.pem")
            try write(short.key.pem(), to: "server.key")
            try await serve()
            #expect(try contents("server.pem") != short.certificate.pem())
            #expect(try mode(of: directory + "/server.key") == 0o600)
            let renewed = try contents("server.pem")
            try await serve()
            #expect(try contents("server.pem") == renewed)
            #expect(try contents("ca.pem") == authority)
        }
    }

    @Test("A new name gets a new certificate that curl accepts")
    func newName() async throws {
        try await withDirectory { directory in
            try await withServer {
                $0.certificateDirectory = directory
            } _: { _ async throws in
            }
            let configure = { (configuration: inout MockAPNsConfiguration) in
                configuration.certificateDirectory = directory
                configuration.names = ["push.example.com"]
            }
            try await withServer(configure) { server async throws in
                let resolve = "push.example.com:\(server.port):127.0.0.1"
                let command = try await Command.run(
                    "curl",
                    [
                        "-s", "-i", "--http2", "--cacert", server.certificateAuthorityFile, "--resolve", resolve, "-H",
                        "apns-topic: com.example.app", "-d", "{}",
                        "https://push.example.com:\(server.port)/3/device/abcd",
                    ])
                #expect(command.text.hasPrefix("HTTP/2 200"))
            }
        }
    }

    @Test("A damaged key is not replaced: its owner may still need it", arguments: ["AuthKey.p8", "ca.key"])
    func damagedKey(_ name: String) async throws {
        try await withDirectory { directory in
            try await withServer {
                $0.certificateDirectory = directory
            } _: { _ async throws in
            }
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: "\(directory)/\(name)"))
            let error = await #expect(throws: MockError.self) {
                try await withServer {
                    $0.certificateDirectory = directory
                } _: { _ async throws in
                }
            }
            #expect(error?.what.contains("not PEM") == true)
        }
    }

    @Test("Without a directory of the user's the server's is gone when it has stopped")
    func temporaryDirectory() async throws {
        let directory = try await withServer { server async throws in
            #expect(FileManager.default.fileExists(atPath: server.certificateAuthorityFile))
            return server.certificateDirectory
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }
}
