import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastOpenSSL
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast
@testable import HoldfastLegacyAPNs

/// Certificates of the binary protocol, exchanged while it is used.
@Suite("Credentials of the binary protocol are read again", .timeLimit(.minutes(1))) struct ReloadTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("holdfast-legacy-\(UUID().uuidString)")

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appendingPathComponent(name), options: .atomic)
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// What the engine is told of its connector.
    private final class StubEngine: ConnectorHost.Services {
        let notices = Monitor<[ConnectorNotice.Kind]>([])
        let changes = Monitor(0)

        func note(_ name: String) -> [UInt8]? { nil }
        func setNote(_ name: String, to value: [UInt8]?) {}
        func credentialsChanged() { changes.withLock { $0 += 1 } }
        func report(_ notice: ConnectorNotice) { notices.withLock { $0.append(notice.kind) } }
    }

    @Test("A trusted certificate that is replaced is taken up by itself: connections drain, and the next one uses it")
    func watched() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MockedService.run { service in
            try write(try CertificateAuthority(commonName: "Another").certificate.pem(), "ca.pem")
            let connector = try service.connector {
                $0.trust = .file(path("ca.pem"))
                $0.reloadEvery = .milliseconds(20)
            }
            let engine = StubEngine()
            connector.begin(ConnectorHost(route: "legacy", services: engine))
            let refused = await #expect(throws: ConnectError.self) {
                try await connector.connect(ConnectionSink { _ in })
            }
            #expect(refused?.kind == .configuration)
            try write(try bytes(service.mock.certificateAuthorityFile), "ca.pem")
            #expect(await Patience(.seconds(10)).wait { engine.changes.withLock { $0 } == 1 })
            #expect(engine.notices.withLock { $0 } == [.credentialsReloaded])
            let drained = Monitor(false)
            let connection = try await connector.connect(
                ConnectionSink { event in if case .draining = event { drained.withLock { $0 = true } } })
            // The same and one more: another file, and as good.
            let more = try CertificateAuthority(commonName: "One more").certificate.pem()
            try write(try bytes(service.mock.certificateAuthorityFile) + more, "ca.pem")
            #expect(await Patience(.seconds(10)).wait { drained.withLock { $0 } })
            #expect(await Patience(.seconds(10)).wait { engine.changes.withLock { $0 } == 2 })
            connection.close(deadline: .zero)
            try await connector.connect(ConnectionSink { _ in }).close(deadline: .zero)
        }
    }

    @Test("What can't be used is said when it is asked for, and what was in use stays in use") func asked() async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MockedService.run { service in
            try write(try bytes(service.mock.certificateAuthorityFile), "ca.pem")
            let connector = try service.connector {
                $0.trust = .file(path("ca.pem"))
                $0.reloadEvery = nil
            }
            let engine = StubEngine()
            connector.begin(ConnectorHost(route: "legacy", services: engine))
            try write(Array("nothing".utf8), "ca.pem")
            let error = await #expect(throws: LegacyAPNsConfigurationError.self) { try await connector.reload() }
            #expect(error?.message.contains(path("ca.pem")) == true)
            #expect(engine.notices.withLock { $0 } == [.credentialsNotReloaded])
            try await connector.connect(ConnectionSink { _ in }).close(deadline: .zero)
            try write(try bytes(service.mock.certificateAuthorityFile), "ca.pem")
            try await connector.reload()
            #expect(engine.notices.withLock { $0 } == [.credentialsNotReloaded, .credentialsReloaded])
            // As before, and somebody has asked: what waits for a connection waits no longer.
            #expect(engine.changes.withLock { $0 } == 1)
        }
    }

    @Test(
        "An engine reads again for all its routes, and says which could not; what is delivered meanwhile is delivered once"
    )
    func engine() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let taken = Monitor<[[UInt8]]>([])
        var configuration = MockBinaryConfiguration()
        configuration.observer = { exchanges in
            taken.withLock { $0 += exchanges.filter(\.isTaken).map(\.notification.payload) }
        }
        try await MockedService.run(configuration) { service in
            try write(try bytes(service.mock.certificateAuthorityFile), "ca.pem")
            let connector = try service.connector { $0.trust = .file(path("ca.pem")) }
            var engineConfiguration = EngineConfiguration()
            engineConfiguration.barrierIdle = .milliseconds(50)
            engineConfiguration.reconnectMinimum = .milliseconds(5)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let engine = try PushEngine(
                journal: InMemoryJournal(),
                routes: [
                    Route(name: "legacy", connector: connector),
                    Route(name: "other", connector: InMemoryConnector(), topics: ["other"]),
                ], configuration: engineConfiguration, logger: logger)
            let running = Task { try await engine.run() }
            let notifications = (0..<400).map { number in
                PushNotification(
                    token: DeviceToken(checked: Array(repeating: UInt8(number % 251), count: 32)),
                    topic: "com.example.app", payload: "{\"n\":\(number)}")
            }
            for start in stride(from: 0, to: 400, by: 40) {
                _ = await engine.producer.submit(Array(notifications[start..<start + 40]))
                let more = try CertificateAuthority(commonName: "\(start)").certificate.pem()
                try write(try bytes(service.mock.certificateAuthorityFile) + more, "ca.pem")
                #expect(await engine.reloadCredentials().map(\.failure) == [nil, nil])
            }
            try write([], "ca.pem")
            let reloads = await engine.reloadCredentials()
            #expect(reloads.map(\.route) == ["legacy", "other"])
            #expect(reloads[0].failure?.contains("ca.pem") == true)
            #expect(reloads[1].failure == nil)
            #expect(await engine.untilIdle() == .drained)
            running.cancel()
            try await running.value
            #expect(engine.status().confirmed == 400)
        }
        // Each once; between the old connection and the new one no order is promised.
        let all = (0..<400).map { Array("{\"n\":\($0)}".utf8) }
        #expect(taken.withLock { $0 }.count == all.count)
        #expect(Set(taken.withLock { $0 }) == Set(all))
    }
}
