import HoldfastAPNs
import Testing

@testable import Holdfast
@testable import HoldfastGateway
@testable import HoldfastTesting

@Suite("A gateway that resolves the service's name to itself", .timeLimit(.minutes(1)))
struct OwnDeliveryTests {
    @Test("Nothing is sent to it, and operators are told why")
    func itself() async throws {
        try await withHTTP2World { world in
            let endpoint = try APNsEndpoint("http://127.0.0.1:\(world.port)")
            let connector = try APNsConnector(.init(endpoint: endpoint))
            let recorder = ConnectionRecorder(.perNotification)
            let error = try await #require(throws: ConnectError.self) { _ = try await connector.connect(recorder.sink) }
            #expect(error.kind == .configuration)
            #expect(error.message.contains("127.0.0.1:\(world.port) is this process itself"), "\(error.message)")
            #expect(world.gateway.figures[0].openConnections == 0)
        }
    }
}
