import Foundation
import Holdfast
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import HoldfastRequests
import HoldfastTesting
import Testing

@testable import HoldfastAPNs

/// Credentials that change while a connector is in use.
@Suite("Credentials are exchanged without a restart", .timeLimit(.minutes(2))) struct CredentialsReloadTests {
    /// Stands for the engine, and for its journal's notes.
    private final class StubEngine: ConnectorHost.Services {
        struct Seen: Sendable {
            var notes: [String: [UInt8]] = [:]
            var changes = 0
            var notices: [ConnectorNotice] = []
        }

        let seen = Monitor(Seen())
        var now: Seen { seen.withLock { $0 } }
        var host: ConnectorHost { ConnectorHost(route: "default", services: self) }

        func note(_ name: String) -> [UInt8]? { seen.withLock { $0.notes[name] } }
        func setNote(_ name: String, to value: [UInt8]?) { seen.withLock { $0.notes[name] = value } }
        func credentialsChanged() { seen.withLock { $0.changes += 1 } }
        func report(_ notice: ConnectorNotice) { seen.withLock { $0.notices.append(notice) } }

        func kinds(_ kind: ConnectorNotice.Kind) -> [String] { now.notices.filter { $0.kind == kind }.map(\.message) }
    }

    /// A directory, and files in it.
    private struct Folder: ~Copyable {
        let path = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString)"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: URL(fileURLWithPath: self(name)), options: .atomic)
        }
    }

    private func eventually(
        _ what: Comment, within limit: Duration = .seconds(20), _ condition: () -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while !condition() {
            try #require(ContinuousClock.now < deadline, what)
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// A hand-out of one notification.
    private static let handOut: HandOut = {
        var bytes: [UInt8] = []
        PackedNotification.append(
            SampleNotification.numbered(1), id: SampleNotification.id(1), expiration: SampleNotification.expiration,
            acceptedAt: SampleNotification.acceptedAt, producer: "default", to: &bytes)
        let item = EntryBatch.Item(uid: UID(1), attempts: 0, range: 0..<bytes.count)
        return HandOut(entries: EntryBatch(bytes: bytes, items: [item]), tickets: [Ticket(rawValue: 1)])
    }()

    /// Sends one notification on a connection of its own, and says what became of it.
    private func answer(_ connector: APNsConnector) async throws -> SendResult.Verdict? {
        let verdict = Monitor<SendResult.Verdict?>(nil)
        let connection = try await connector.connect(
            ConnectionSink { event in
                switch event {
                case .confirmed: verdict.withLock { $0 = .confirmed }
                case .results(let results): verdict.withLock { $0 = results[0].result.verdict }
                default: break
                }
            })
        connection.send(Self.handOut)
        try await eventually("an answer") { verdict.withLock { $0 } != nil }
        connection.close(deadline: .seconds(5))
        return verdict.withLock { $0 }
    }

    private func configuration(
        _ mock: MockAPNsServer, _ signingKey: APNsSigningKey?
    ) throws -> APNsConnector.Configuration {
        var configuration = APNsConnector.Configuration(
            endpoint: try APNsEndpoint("https://127.0.0.1:\(mock.port)"), trust: .file(mock.certificateAuthorityFile),
            signingKey: signingKey)
        configuration.reloadEvery = .milliseconds(20)
        return configuration
    }

    private func verifyingMock() async throws -> MockAPNsServer {
        var configuration = MockAPNsConfiguration()
        configuration.providerTokens = .verified
        return try await MockAPNsServer.start(configuration)
    }

    private func signingKey(_ path: String, teamID: String = "MOCKTEAMID") throws -> APNsSigningKey {
        try APNsSigningKey(file: path, keyID: "MOCKKEYID1", teamID: teamID)
    }

    // MARK: Signing keys

    @Test("A key for another team stops the lane; the right key in its place is taken up, and the engine is told")
    func mendedKey() async throws {
        let folder = try Folder()
        let mock = try await verifyingMock()
        try folder.write(ES256PrivateKey().pem(), "key.p8")
        let connector = try APNsConnector(configuration(mock, signingKey(folder("key.p8"))))
        let engine = StubEngine()
        connector.begin(engine.host)
        #expect(try await answer(connector) == .laneStopped(.credentials))
        #expect(
            try await answer(APNsConnector(configuration(mock, signingKey(mock.providerKeyFile, teamID: "OTHERTEAM1"))))
                == .laneStopped(.credentials))
        try folder.write(Array(Data(contentsOf: URL(fileURLWithPath: mock.providerKeyFile))), "key.p8")
        try await eventually("the engine is told") { engine.now.changes == 1 }
        #expect(try await answer(connector) == .confirmed)
        let told = engine.kinds(.credentialsReloaded)
        #expect(told.count == 1 && told[0].contains(folder("key.p8")) && told[0].contains("MOCKKEYID1"))
        try await mock.stop()
    }

    @Test("Open connections are drained when the credentials change, before the engine is told, and new ones stay")
    func drains() async throws {
        let folder = try Folder()
        let mock = try await verifyingMock()
        let right = Array(try Data(contentsOf: URL(fileURLWithPath: mock.providerKeyFile)))
        try folder.write(ES256PrivateKey().pem(), "key.p8")
        let connector = try APNsConnector(configuration(mock, signingKey(folder("key.p8"))))
        let engine = StubEngine()
        connector.begin(engine.host)
        let events = Monitor<[String]>([])
        let old = try await connector.connect(
            ConnectionSink { event in
                switch event {
                case .draining: events.withLock { $0.append("draining, told \(engine.now.changes)") }
                case .ended(let end): events.withLock { $0.append("ended: \(end.cause ?? "-")") }
                default: break
                }
            })
        try folder.write(right, "key.p8")
        try await eventually("the engine is told") { engine.now.changes == 1 }
        try await eventually("the old connection ends") { events.withLock { $0.count } == 2 }
        #expect(events.withLock { $0 } == ["draining, told 0", "ended: new credentials are in use"])
        let hasEnded = Monitor(false)
        let new = try await connector.connect(
            ConnectionSink { event in if case .ended = event { hasEnded.withLock { $0 = true } } })
        try await connector.reload()
        // On request the engine is told, and connections with the same credentials stay.
        try await eventually("the engine is told") { engine.now.changes == 2 }
        #expect(!hasEnded.withLock { $0 })
        new.close(deadline: .zero)
        old.close(deadline: .zero)
        try await mock.stop()
    }

    @Test("A broken new file leaves the old key in use and is told once; so is its mending") func brokenKey()
        async throws
    {
        let folder = try Folder()
        let mock = try await verifyingMock()
        let right = Array(try Data(contentsOf: URL(fileURLWithPath: mock.providerKeyFile)))
        try folder.write(right, "key.p8")
        let connector = try APNsConnector(configuration(mock, signingKey(folder("key.p8"))))
        let engine = StubEngine()
        connector.begin(engine.host)
        try folder.write(Array("secret nonsense".utf8), "key.p8")
        try await eventually("it is told") { !engine.kinds(.credentialsNotReloaded).isEmpty }
        #expect(try await answer(connector) == .confirmed)
        let error = await #expect(throws: APNsConfigurationError.self) { try await connector.reload() }
        #expect(error?.message.contains(folder("key.p8")) == true)
        #expect(error?.message.contains("nonsense") == false)
        let told = engine.kinds(.credentialsNotReloaded)
        #expect(told.count == 1 && told[0].contains(folder("key.p8")) && told[0].contains("not PEM"))
        #expect(engine.now.changes == 0)
        try folder.write(right, "key.p8")
        try await eventually("its mending is told") { engine.kinds(.credentialsReloaded).count == 1 }
        #expect(engine.kinds(.credentialsReloaded)[0].contains("good again"))
        #expect(engine.kinds(.credentialsNotReloaded).count == 1)
        try await mock.stop()
    }

    @Test("The token is left in the journal, and the next process shows the service the same") func keepsToken()
        async throws
    {
        let clock = ManualClock(wall: EngineClock.system.wall())
        let shown = Monitor<Set<String>>([])
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.providerTokens = .verified
        mockConfiguration.behavior = MockBehavior { request in
            _ = shown.withLock { $0.insert(request["authorization"] ?? "-") }
            return nil
        }
        let mock = try await MockAPNsServer.start(mockConfiguration)
        let engine = StubEngine()
        for process in 1...3 {
            var configuration = try configuration(mock, signingKey(mock.providerKeyFile))
            // As a process of its own.
            configuration.tokens = ProviderTokenRegistry(clock: clock.engineClock)
            let connector = try APNsConnector(configuration)
            connector.begin(engine.host)
            #expect(try await answer(connector) == .confirmed)
            try await eventually("it is kept") { engine.now.notes["apns-token/MOCKTEAMID/MOCKKEYID1"] != nil }
            #expect(shown.withLock { $0.count } == 1, "process \(process)")
            clock.advance(by: .seconds(60))
        }
        // Another journal of the same process gets it as well, without another being minted.
        var configuration = try configuration(mock, signingKey(mock.providerKeyFile))
        configuration.tokens = ProviderTokenRegistry(clock: clock.engineClock)
        let (one, other, second) = (try APNsConnector(configuration), try APNsConnector(configuration), StubEngine())
        one.begin(engine.host)
        other.begin(second.host)
        #expect(second.now.notes == engine.now.notes)
        #expect(try await answer(other) == .confirmed)
        #expect(shown.withLock { $0.count } == 1)
        try await mock.stop()
    }

    @Test("Two connectors and four connections show the service one token") func oneToken() async throws {
        let shown = Monitor<Set<String>>([])
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.providerTokens = .verified
        mockConfiguration.behavior = MockBehavior { request in
            _ = shown.withLock { $0.insert(request["authorization"] ?? "-") }
            return nil
        }
        let mock = try await MockAPNsServer.start(mockConfiguration)
        for _ in 0..<2 {
            let connector = try APNsConnector(configuration(mock, signingKey(mock.providerKeyFile)))
            for _ in 0..<2 { #expect(try await answer(connector) == .confirmed) }
        }
        #expect(shown.withLock { $0.count } == 1)
        try await mock.stop()
    }

    // MARK: Certificates

    /// A certificate that the mock takes, with its key.
    private func issue(_ mock: MockAPNsServer, lifetime: Duration = .seconds(90 * 86_400)) throws -> (
        certificate: [UInt8], key: [UInt8]
    ) {
        func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
        let folder = (mock.certificateAuthorityFile as NSString).deletingLastPathComponent
        let authority = try CertificateAuthority(
            certificatePEM: bytes(mock.certificateAuthorityFile), keyPEM: bytes("\(folder)/ca.key"))
        let (certificate, key) = try authority.issue(
            commonName: "client", names: [.dns("client.invalid")], lifetime: lifetime)
        return (try certificate.pem(), try key.pem())
    }

    private func demandingMock() async throws -> MockAPNsServer {
        var configuration = MockAPNsConfiguration()
        configuration.requiresClientCertificate = true
        return try await MockAPNsServer.start(configuration)
    }

    @Test("A renewed certificate and key, written one after the other, are taken up together and nobody is alarmed")
    func renewedCertificate() async throws {
        let folder = try Folder()
        let mock = try await demandingMock()
        let (old, new) = (try issue(mock), try issue(mock))
        try folder.write(old.certificate, "push.pem")
        try folder.write(old.key, "push.key")
        var configuration = try configuration(mock, nil)
        // Looks are ours.
        configuration.reloadEvery = .seconds(3600)
        configuration.clientCertificate = .pem(certificates: folder("push.pem"), key: folder("push.key"))
        let connector = try APNsConnector(configuration)
        let engine = StubEngine()
        connector.begin(engine.host)
        #expect(try await answer(connector) == .confirmed)
        try folder.write(new.certificate, "push.pem")
        connector.vault.look()
        try folder.write(new.key, "push.key")
        connector.vault.look()
        try await eventually("the engine is told") { engine.now.changes == 1 }
        #expect(engine.kinds(.credentialsNotReloaded).isEmpty)
        #expect(engine.kinds(.credentialsReloaded).count == 1)
        #expect(try await answer(connector) == .confirmed)
        try await mock.stop()
    }

    @Test("Other trusted certificates are taken up: a server that was untrusted is trusted") func renewedTrust()
        async throws
    {
        let folder = try Folder()
        let mock = try await MockAPNsServer.start(MockAPNsConfiguration())
        try folder.write(CertificateAuthority(commonName: "Another").certificate.pem(), "ca.pem")
        var configuration = try configuration(mock, nil)
        configuration.trust = .file(folder("ca.pem"))
        let connector = try APNsConnector(configuration)
        let engine = StubEngine()
        connector.begin(engine.host)
        let error = await #expect(throws: ConnectError.self) { try await answer(connector) }
        #expect(error?.kind == .configuration)
        try folder.write(Array(Data(contentsOf: URL(fileURLWithPath: mock.certificateAuthorityFile))), "ca.pem")
        try await eventually("the engine is told") { engine.now.changes == 1 }
        #expect(try await answer(connector) == .confirmed)
        try await mock.stop()
    }

    @Test("A certificate's end is told when the engine begins, and stops new connections when it has come")
    func expiry() async throws {
        let folder = try Folder()
        let mock = try await demandingMock()
        let pair = try issue(mock, lifetime: .seconds(5 * 86_400))
        try folder.write(pair.certificate + pair.key, "push.pem")
        let clock = ManualClock(wall: EngineClock.system.wall())
        var configuration = try configuration(mock, nil)
        configuration.clock = clock.engineClock
        configuration.clientCertificate = .pem(certificates: folder("push.pem"), key: folder("push.pem"))
        let connector = try APNsConnector(configuration)
        let engine = StubEngine()
        connector.begin(engine.host)
        try await eventually("it is told") { engine.kinds(.credentialsExpire).count == 1 }
        #expect(engine.kinds(.credentialsExpire)[0].contains("expires in"))
        clock.advance(by: .seconds(6 * 86_400))
        try await eventually("its end is told") { engine.kinds(.credentialsExpire).count == 2 }
        #expect(engine.kinds(.credentialsExpire)[1].contains("expired on"))
        let error = await #expect(throws: ConnectError.self) { try await answer(connector) }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains(folder("push.pem")) == true)
        let next = try issue(mock)
        try folder.write(next.certificate + next.key, "push.pem")
        try await eventually("the engine is told") { engine.now.changes == 1 }
        #expect(try await answer(connector) == .confirmed)
        try await mock.stop()
    }
}
