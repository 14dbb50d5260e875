import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTesting

@Suite("Who the service is", .timeLimit(.minutes(1))) struct ServerNameTests {
    /// A service at 127.0.0.1 whose certificate is for push.example alone.
    private func elsewhere() async throws -> (MockAPNsServer, APNsConnector.Configuration) {
        var configuration = MockAPNsConfiguration()
        configuration.names = ["push.example"]
        // Means 127.0.0.1 to the system, without a look into /etc/hosts, and a name to a certificate.
        configuration.host = "0x7f.1"
        let mock = try await MockAPNsServer.start(configuration)
        return (mock, try APNsConnector.Configuration(mock))
    }

    @Test("A service that is reached by another name is known by the one that is configured") func serverName()
        async throws
    {
        var (mock, configuration) = try await elsewhere()
        configuration.serverName = "push.example"
        await (try await WireBench(APNsConnector(configuration))).finish()
        configuration.serverName = "other.example"
        let connector = try APNsConnector(configuration)
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("does not name the host \"other.example\"") == true)
        try await mock.stop()
    }

    @Test("A certificate for the address of a service does not pass for its name") func addressForName() async throws {
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.names = ["127.0.0.1"]
        mockConfiguration.host = "127.0.0.1"
        let mock = try await MockAPNsServer.start(mockConfiguration)
        var configuration = try APNsConnector.Configuration(mock)
        await (try await WireBench(APNsConnector(configuration))).finish()
        configuration.serverName = "api.push.example"
        let connector = try APNsConnector(configuration)
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration)
        #expect(
            error?.message.contains("does not name the host \"api.push.example\", but the address 127.0.0.1") == true)
        try await mock.stop()
    }

    @Test("Without a look at the host name any trusted certificate will do, and that is said at each beginning")
    func unverified() async throws {
        var (mock, configuration) = try await elsewhere()
        let board = NoticeBoard()
        let strict = try APNsConnector(configuration)
        strict.begin(board.host)
        #expect(board.all == [])
        await #expect(throws: ConnectError.self) { try await WireBench(strict) }
        configuration.verifiesHostName = false
        let lax = try APNsConnector(configuration)
        lax.begin(board.host)
        lax.begin(board.host)
        #expect(board.all.map(\.kind) == [.hostNameUnverified, .hostNameUnverified])
        #expect(board.all.first?.isWarning == true)
        await (try await WireBench(lax)).finish()
        try await mock.stop()
    }

    @Test("Without a look at the host name the rest of the certificate is still checked") func stillTrusted()
        async throws
    {
        var (mock, configuration) = try await elsewhere()
        let other = try await MockAPNsServer.start()
        configuration.verifiesHostName = false
        configuration.trust = .file(other.certificateAuthorityFile)
        let connector = try APNsConnector(configuration)
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration)
        #expect(error?.message.contains("not trusted") == true)
        try await other.stop()
        try await mock.stop()
    }

    @Test("Trusted certificates may be given as text") func pem() async throws {
        let mock = try await MockAPNsServer.start()
        var configuration = try APNsConnector.Configuration(mock)
        let text = try Data(contentsOf: URL(fileURLWithPath: mock.certificateAuthorityFile))
        configuration.trust = .pem(Array(text))
        await (try await WireBench(APNsConnector(configuration))).finish()
        configuration.trust = .pem(Array("hello".utf8))
        #expect(throws: APNsConfigurationError.self) { try APNsConnector(configuration) }
        try await mock.stop()
    }

    @Test(
        "A service that wants a certificate and is shown none says so, to whoever can mend it, by TLS 1.2 as by 1.3",
        arguments: [false, true])
    func wantsCertificate(isOld: Bool) async throws {
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.requiresClientCertificate = true
        mockConfiguration.isLimitedToTLS12 = isOld
        let mock = try await MockAPNsServer.start(mockConfiguration)
        let connector = try APNsConnector(APNsConnector.Configuration(mock))
        let error = await #expect(throws: ConnectError.self) { try await WireBench(connector) }
        #expect(error?.kind == .configuration, "\(error?.message ?? "")")
        #expect(error?.message.contains(isOld ? "asked for a certificate, was shown none" : "certificate") == true)
        try await mock.stop()
    }
}
