import Foundation
import HoldfastAPNs
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

/// The engine, with credentials that are mended while it runs.
@Suite("Delivery with credentials that are mended", .timeLimit(.minutes(2))) struct CredentialsDeliveryTests {
    private func notifications(_ count: Int, from first: Int = 0) -> [PushNotification] {
        (first..<first + count).map { SampleNotification.numbered($0) }
    }

    private func eventually(_ what: Comment, _ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while try !condition() {
            try #require(ContinuousClock.now < deadline, what)
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func engine(_ connector: APNsConnector, _ journal: InMemoryJournal) throws -> PushEngine {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: EngineConfiguration(),
            logger: logger)
    }

    @Test("A key that the service refuses stops the lanes and loses nothing; the right one in its file lets all go")
    func mended() async throws {
        let path = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString).p8"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) }
        try write(ES256PrivateKey().pem())
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.providerTokens = .verified
        let mock = try await MockAPNsServer.start(mockConfiguration)
        var configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"), trust: .file(mock.certificateAuthorityFile))
        configuration.signingKey = try APNsSigningKey(
            file: path, keyID: mockConfiguration.keyID, teamID: mockConfiguration.teamID)
        configuration.reloadEvery = .milliseconds(20)
        let journal = InMemoryJournal()
        let engine = try engine(try APNsConnector(configuration), journal)
        for receipt in await engine.producer.submit(notifications(200)) { _ = try receipt.get() }
        let running = Task { try await engine.run() }
        try await eventually("the lane stops") { engine.status().lanes.contains { $0.stoppedBecause != nil } }
        #expect(engine.status().lanes.contains { $0.stoppedBecause?.contains("InvalidProviderToken") == true })
        #expect(journal.entries.count == 200)
        try write(Array(Data(contentsOf: URL(fileURLWithPath: mock.providerKeyFile))))
        try await eventually("everything is delivered") { engine.status().confirmed == 200 }
        #expect(engine.status().possibleDuplicates == 0)
        #expect(engine.status().lanes.allSatisfy { $0.stoppedBecause == nil })
        try await eventually("the token is kept") {
            try journal.note("connector:apns-token/MOCKTEAMID/MOCKKEYID1") != nil
        }
        running.cancel()
        try await running.value
        try await mock.stop()
    }

    @Test("A key that is exchanged in the middle of a delivery costs nothing: all arrive, none twice") func rotated()
        async throws
    {
        let path = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString).pem"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.requiresClientCertificate = true
        mockConfiguration.delay = .milliseconds(2)
        let mock = try await MockAPNsServer.start(mockConfiguration)
        let folder = (mock.certificateAuthorityFile as NSString).deletingLastPathComponent
        func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
        let authority = try CertificateAuthority(
            certificatePEM: bytes(mock.certificateAuthorityFile), keyPEM: bytes("\(folder)/ca.key"))
        func renew() throws {
            let (certificate, key) = try authority.issue(commonName: "client", names: [.dns("client.invalid")])
            try Data(certificate.pem() + key.pem()).write(to: URL(fileURLWithPath: path), options: .atomic)
        }
        try renew()
        var configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"), trust: .file(mock.certificateAuthorityFile),
            clientCertificate: .pem(certificates: path, key: path))
        configuration.reloadEvery = .milliseconds(20)
        let engine = try engine(try APNsConnector(configuration), InMemoryJournal())
        let running = Task { try await engine.run() }
        var count = 0
        func submit(_ more: Int) async throws {
            for receipt in await engine.producer.submit(notifications(more, from: count)) { _ = try receipt.get() }
            count += more
        }
        try await submit(2000)
        try await eventually("the first are delivered") { engine.status().confirmed == 2000 }
        for round in 1...5 {
            try await submit(1000)
            try renew()
            // There is always something to send while it is noticed.
            while mock.counters.connections <= round {
                try await submit(50)
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        try await eventually("all are delivered") { engine.status().confirmed == count }
        #expect(engine.status().possibleDuplicates == 0)
        #expect(mock.counters.requests == count)
        running.cancel()
        try await running.value
        try await mock.stop()
    }

    @Test("A topic that the certificate lacks is refused by submit, and one that it has is not") func topics()
        async throws
    {
        let directory = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            "c.key",
            "-out", "c.pem", "-days", "30", "-subj", "/UID=com.example.app",
        ]
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let connector = try APNsConnector(
            APNsConnector.Configuration(
                endpoint: .sandbox,
                clientCertificate: .pem(certificates: "\(directory)/c.pem", key: "\(directory)/c.key")))
        let engine = try engine(connector, InMemoryJournal())
        var notification = SampleNotification.numbered(1)
        notification.topic = "com.example.other"
        let receipts = await engine.producer.submit([notification])
        #expect(throws: Refusal.self) { _ = try receipts[0].get() }
        notification.topic = "com.example.app"
        for receipt in await engine.producer.submit([notification]) { _ = try receipt.get() }
    }
}
