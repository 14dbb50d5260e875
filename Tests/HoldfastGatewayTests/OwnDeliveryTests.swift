import HoldfastAPNs
import HoldfastLegacyAPNs
import Testing

@testable import Holdfast
@testable import HoldfastGateway
@testable import HoldfastTesting

@Suite("A gateway that resolves the service's name to itself", .timeLimit(.minutes(1)))
struct OwnDeliveryTests {
    private func refusal(of connector: some Connector) async throws -> ConnectError {
        let recorder = ConnectionRecorder(connector.confirmationMode)
        return try await #require(throws: ConnectError.self) { _ = try await connector.connect(recorder.sink) }
    }

    @Test(
        "Nothing is sent to it over HTTP/2, by whichever address, and operators are told why",
        arguments: [
            "http://127.0.0.1", "https://127.0.0.1", "https://0.0.0.0", "https://0", "https://[::ffff:0.0.0.0]",
        ])
    func http2(endpoint: String) async throws {
        try await withHTTP2World { world in
            let connector = try APNsConnector(.init(endpoint: APNsEndpoint("\(endpoint):\(world.port)")))
            let error = try await refusal(of: connector)
            #expect(error.kind == .configuration)
            #expect(error.message.contains(":\(world.port) is this process itself"), "\(error.message)")
            #expect(world.gateway.figures[0].openConnections == 0)
        }
    }

    @Test("Nothing is sent to it over IPv6's address of none")
    func unspecified6() async throws {
        let change = Change<HTTP2IngressConfiguration> { $0.listen = ListenAddress(host: "::1", port: 0) }
        try await withHTTP2World(change) { world in
            let connector = try APNsConnector(.init(endpoint: APNsEndpoint("https://[::]:\(world.port)")))
            let error = try await refusal(of: connector)
            #expect(error.message.contains(":\(world.port) is this process itself"), "\(error.message)")
            #expect(world.gateway.figures[0].openConnections == 0)
        }
    }

    @Test("Nothing is sent to it over the binary protocol", arguments: ["binary", "binary+tls"])
    func binary(scheme: String) async throws {
        try await BinaryGateway.run { gateway in
            let endpoint = try LegacyAPNsEndpoint("\(scheme)://localhost:\(gateway.port)")
            let error = try await refusal(of: LegacyAPNsConnector(.init(endpoint: endpoint)))
            #expect(error.kind == .configuration)
            #expect(error.message.contains(":\(gateway.port) is this process itself"), "\(error.message)")
            #expect(gateway.gateway.figures[0].openConnections == 0)
        }
    }

    @Test("Its own feedback is not read back")
    func feedback() async throws {
        var configuration = GatewayConfiguration()
        configuration.feedback = FeedbackIngressConfiguration(
            listen: ListenAddress(host: "127.0.0.1", port: 0), topic: BinaryGateway.topic)
        try await BinaryGateway.run(configuration) { gateway in
            let port = try #require(gateway.gateway.addresses["feedback"]?.port)
            let source = try LegacyAPNsFeedback(.init(endpoint: .init("feedback://127.0.0.1:\(port)")))
            let error = try await #require(throws: FeedbackError.self) { try await source.read { _ in } }
            #expect(error.code == .configuration)
            #expect(error.message.contains("127.0.0.1:\(port) is this process itself"), "\(error.message)")
        }
    }
}
