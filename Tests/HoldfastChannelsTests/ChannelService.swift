import Holdfast
import HoldfastChannels
import HoldfastMockAPNs
import HoldfastMocking

@testable import HoldfastAPNs

/// A service that manages channels, and a manager of its app's.
struct ChannelService {
    let mock: MockAPNsServer
    /// As a sender has it: its endpoint is where the mock takes notifications.
    var configuration: APNsConnector.Configuration

    static let bundleID = "com.example.app"

    var endpoint: APNsEndpoint {
        get throws { try APNsEndpoint("https://\(mock.managementAddress?.description ?? "")") }
    }

    /// A manager that shares its provider tokens with nobody else.
    func manager(store: (any ProviderTokenStore)? = nil, clock: EngineClock = .system) throws -> ChannelManager {
        var configuration = configuration
        configuration.tokens = ProviderTokenRegistry(clock: clock)
        return try ChannelManager(
            bundleID: Self.bundleID, configuration, endpoint: try endpoint, store: store)
    }

    func signingKey() throws -> APNsSigningKey {
        try APNsSigningKey(file: mock.providerKeyFile, keyID: "MOCKKEYID1", teamID: "MOCKTEAMID")
    }

    /// Runs `body` with a service, and stops it whatever happens.
    static func run(
        _ configure: (inout MockAPNsConfiguration) -> Void = { _ in },
        _ body: (ChannelService) async throws -> Void
    ) async throws {
        var mockConfiguration = MockAPNsConfiguration()
        mockConfiguration.managementPort = 0
        configure(&mockConfiguration)
        let mock = try await MockAPNsServer.start(mockConfiguration)
        do {
            var configuration = APNsConnector.Configuration(
                endpoint: try APNsEndpoint("https://\(mock.address)"), trust: .file(mock.certificateAuthorityFile))
            configuration.sendDeadline = .seconds(20)
            try await body(ChannelService(mock: mock, configuration: configuration))
        } catch {
            try await mock.stop(within: .zero)
            throw error
        }
        try await mock.stop(within: .seconds(2))
    }
}

/// What came of something that should have thrown a ``ChannelError``.
func channelError(_ body: () async throws -> Void) async -> ChannelError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? ChannelError
    }
}
