import HoldfastMockAPNs
import HoldfastMocking

func startMockThatRefuses(_ badToken: String) async throws -> MockBinaryServer {
    var configuration = MockBinaryConfiguration()
    configuration.rejections = [badToken: 8]
    configuration.behavior = .errors(MockBinaryAnswer(delay: .seconds(2))).onConnections { $0 == 1 }
    return try await MockBinaryServer.start(configuration)
}
