import Foundation
import Holdfast
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTesting
import Testing

@testable import HoldfastLegacyAPNs

@Suite("Connecting over the binary protocol", .timeLimit(.minutes(2))) struct DiallingTests {
    private func failure(_ connector: LegacyAPNsConnector) async throws -> ConnectError {
        do throws(ConnectError) {
            let connection = try await connector.connect(Recorder().sink)
            connection.close(deadline: .zero)
        } catch {
            return error
        }
        throw ConnectError(.temporary, "connected")
    }

    @Test("An untrusted authority is named, and is for the operator to mend") func untrusted() async throws {
        try await MockedService.run { service in
            let error = try await failure(service.connector { $0.trust = .system })
            #expect(error.kind == .configuration)
            #expect(error.message.contains("not signed by the system's certificate authorities"))
        }
    }

    @Test("An address that refuses leaves nothing of the attempt alive") func refused() async throws {
        let mock = try await MockBinaryServer.start(MockBinaryConfiguration())
        let port = mock.port
        try await mock.stop(within: .zero)
        let connector = try LegacyAPNsConnector(.init(endpoint: LegacyAPNsEndpoint("binary://127.0.0.1:\(port)")))
        weak var kept: Recorder?
        func attempt() async throws {
            let recorder = Recorder()
            kept = recorder
            await #expect(throws: ConnectError.self) {
                _ = try await connector.connect(recorder.sink)
            }
        }
        try await attempt()
        #expect(await Patience(.seconds(10)).wait { kept == nil })
    }

    @Test("A wrong host name is named, and is for the operator to mend") func wrongName() async throws {
        var other = MockBinaryConfiguration()
        other.host = "0.0.0.0"
        other.names = ["push.example.com"]
        try await MockedService.run(other) { service in
            let error = try await failure(service.connector())
            #expect(error.kind == .configuration)
            #expect(error.message.contains("another host name"))
        }
    }

    @Test(
        "A host that only begins like loopback is none in the clear",
        arguments: ["binary://127.evil.example:2195", "binary://127.0.0.1.evil.example"])
    func clearElsewhere(endpoint: String) {
        let error = #expect(throws: LegacyAPNsConfigurationError.self) { try LegacyAPNsEndpoint(endpoint) }
        #expect(error?.message.contains("is for loopback only") == true)
    }

    @Test("Where nobody listens, trying again may help") func nobody() async throws {
        var port = 0
        try await MockedService.run { service in port = service.mock.port }
        let endpoint = try LegacyAPNsEndpoint("binary+tls://127.0.0.1:\(port)")
        let error = try await failure(LegacyAPNsConnector(.init(endpoint: endpoint)))
        #expect(error.kind == .temporary)
        #expect(error.message.contains("can't be reached"))
    }

    @Test("A peer that accepts and says nothing is given up at the deadline") func silence() async throws {
        try await MockedService.run(behavior: .opening(.stall(nil))) { service in
            let error = try await failure(service.connector { $0.connectDeadline = .milliseconds(300) })
            #expect(error.kind == .temporary)
            #expect(error.message.contains("did not answer within"))
        }
    }

    @Test("A client certificate opens the door, as PEM files and as PKCS#12; without one it stays shut")
    func clientCertificate() async throws {
        let directory = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var demanding = MockBinaryConfiguration()
        demanding.requiresClientCertificate = true
        try await MockedService.run(demanding) { service in
            let (certificate, key) = (service.mock.clientCertificateFile, service.mock.clientKeyFile)
            let bundle = directory + "/client.p12"
            try makeBundle(certificate: certificate, key: key, output: bundle, passphrase: "secret")
            for identity in [
                ClientCertificate.pem(certificates: certificate, key: key),
                .pkcs12(bundle, passphrase: "secret"),
            ] {
                let recorder = Recorder()
                let connection = try await service.connector { $0.clientCertificate = identity }.dial(recorder)
                connection.send(Entries.handOut(1...3))
                connection.writeBarrier()
                #expect(await recorder.end() != nil)
                #expect(recorder.now.barrierAnswered == 3)
            }
            // TLS 1.3 tells a client of it only when it reads.
            let recorder = Recorder()
            do {
                let connection = try await service.connector().dial(recorder)
                connection.send(Entries.handOut(1...3))
                #expect(await recorder.end()?.cause != nil)
            } catch is ConnectError {}
            #expect(service.mock.counters.taken == 6)
        }
    }

    private func makeBundle(certificate: String, key: String, output: String, passphrase: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "pkcs12", "-export", "-in", certificate, "-inkey", key, "-out", output, "-passout",
            "pass:\(passphrase)",
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    @Test("Files that are missing, or are something else, are named") func badFiles() throws {
        let path = NSTemporaryDirectory() + UUID().uuidString
        try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let endpoint = try LegacyAPNsEndpoint("binary+tls://gateway.example.com")
        for certificate in [
            ClientCertificate.pem(certificates: path, key: path), .pkcs12(path, passphrase: "x"),
            .pem(certificates: "/nowhere/\(path)", key: path), .pkcs12("/nowhere/\(path)"),
        ] {
            let error = #expect(throws: LegacyAPNsConfigurationError.self) {
                try LegacyAPNsConnector(.init(endpoint: endpoint, clientCertificate: certificate))
            }
            #expect(error?.message.contains(path) == true)
        }
        #expect(throws: LegacyAPNsConfigurationError.self) {
            try LegacyAPNsConnector(.init(endpoint: endpoint, trust: .file(path)))
        }
    }

    @Test(
        "Endpoints are read as people write them",
        arguments: [
            ("binary+tls://gateway.example.com", "binary+tls://gateway.example.com:2195"),
            ("binary+tls://gateway.example.com:443/", "binary+tls://gateway.example.com:443"),
            ("binary://127.0.0.1:9", "binary://127.0.0.1:9"), ("binary://[::1]", "binary://[::1]:2195"),
        ])
    func endpoints(_ text: String, _ meaning: String) throws {
        #expect(try LegacyAPNsEndpoint(text).description == meaning)
    }

    @Test(
        "What is no endpoint is refused, and named",
        arguments: [
            "", "gateway.example.com", "https://gateway.example.com", "binary+tls://", "binary://gateway.example.com",
            "binary+tls://host:0", "binary+tls://host/path",
        ])
    func badEndpoints(_ text: String) {
        let error = #expect(throws: LegacyAPNsConfigurationError.self) { try LegacyAPNsEndpoint(text) }
        #expect(error?.message.contains(text.debugDescription) == true)
    }
}
