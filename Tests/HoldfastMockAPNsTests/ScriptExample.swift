import HoldfastMockAPNs
import HoldfastMocking

func startMockWithExpiredToken() async throws -> MockAPNsServer {
    var configuration = MockAPNsConfiguration()
    configuration.script = [
        .request(.init(first: 1), MockAnswer(.rejected("ExpiredProviderToken")), name: "first token expired")
    ]
    return try await MockAPNsServer.start(configuration)
}
